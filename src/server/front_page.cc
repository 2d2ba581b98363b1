#include "server/front_page.h"

#include <utility>

#include "front_assets.h"
#include "http/plain.h"
#include "kit/web/negotiation.h"

namespace hearth::server {
namespace {

constexpr char kDataPath[] = "/hearth/front";

nlohmann::json ToJson(const AppHost::Report& report) {
  nlohmann::json facts = nlohmann::json::array();
  for (const kit::Fact& fact : report.facts) {
    facts.push_back({{"label", fact.label}, {"value", fact.value}});
  }
  nlohmann::json json = {{"name", report.info.name},
                         {"title", report.info.title},
                         {"summary", report.info.summary},
                         {"path", report.path},
                         {"state", report.status.ok() ? "running" : "failed"},
                         {"facts", std::move(facts)}};
  if (!report.status.ok()) json["error"] = report.status.message();
  return json;
}

}  // namespace

FrontPage::FrontPage(AppHost& apps, const Clock& clock, Metrics& metrics, std::string project)
    : apps_(apps),
      project_(std::move(project)),
      pages_({.name = "front", .threads = 2}, routes_, clock, metrics) {
  routes_.AddAssets(front::FrontAssets());
  routes_.Add("GET", kDataPath,
              [this](const kit::Request&) { return kit::Response::Json(Data()); });
}

FrontPage::~FrontPage() = default;

void FrontPage::Mount(http::Router* router) {
  router->AddExactService("/", *this);
  router->AddExactService(kDataPath, pages_);
  for (const kit::Asset& asset : front::FrontAssets()) {
    router->AddExactService("/" + std::string(asset.path), pages_);
  }
}

void FrontPage::set_address(std::string address) {
  MutexLock lock(mutex_);
  address_ = std::move(address);
}

std::shared_ptr<http::ExchangeHandler> FrontPage::Open(http::Exchange& exchange) {
  const http::RequestHead& head = exchange.head();
  const bool is_read = head.method() == "GET" || head.method() == "HEAD";
  if (is_read && kit::WantsHtml(head.Find("accept").value_or(""))) return pages_.Open(exchange);
  if (is_read) {
    http::AnswerPlain(exchange, {.body = "Ok\n", .more_headers = {{"vary", "accept"}}});
  } else {
    http::AnswerPlain(
        exchange,
        {.status = 405, .body = "method not allowed\n", .more_headers = {{"allow", "GET"}}});
  }
  return nullptr;
}

nlohmann::json FrontPage::Data() {
  nlohmann::json applications = nlohmann::json::array();
  for (const AppHost::Report& report : apps_.Reports()) applications.push_back(ToJson(report));
  nlohmann::json data = {{"project", project_}, {"applications", std::move(applications)}};
  MutexLock lock(mutex_);
  data["address"] = address_;
  return data;
}

}  // namespace hearth::server
