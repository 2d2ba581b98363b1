#include "apps/sandbox/fault_board.h"

#include <array>
#include <utility>

#include "base/status_macros.h"
#include "kit/web/json_fields.h"

namespace hearth::sandbox {
namespace {

constexpr std::array<std::pair<std::string_view, FaultKind>, 7> kKinds = {{
    {"timeout", FaultKind::kTimeout},
    {"error", FaultKind::kError},
    {"rate_limit", FaultKind::kRateLimit},
    {"garbage", FaultKind::kGarbage},
    {"slow", FaultKind::kSlow},
    {"refuse", FaultKind::kRefuse},
    {"wrong_type", FaultKind::kWrongType},
}};

Result<FaultKind> ParseKind(const std::string& text) {
  std::string known;
  for (const auto& [name, kind] : kKinds) {
    if (name == text) return kind;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  return InvalidArgument("fault: \"" + text + "\" is not one of " + known);
}

}  // namespace

nlohmann::json Fault::ToJson() const {
  nlohmann::json json = {{"service", service}};
  for (const auto& [name, known] : kKinds) {
    if (known == kind) json["fault"] = name;
  }
  if (!path_prefix.empty()) json["path"] = path_prefix;
  if (times_left) json["times"] = *times_left;
  if (kind == FaultKind::kSlow) json["pause_ms"] = slow_pause.count();
  return json;
}

FaultBoard::FaultBoard(const std::vector<std::string>& services) {
  for (const std::string& service : services) request_counts_[service] = 0;
}

Result<Fault> FaultBoard::Add(std::string_view json) {
  kit::JsonFields fields = kit::JsonFields::Parse(json);
  Fault fault;
  fault.service = fields.Text("service", {.characters_min = 1});
  const std::string kind = fields.Text("fault", {.characters_min = 1});
  const std::optional<int64_t> times = fields.OptionalInteger("times", {.min = 1});
  fault.path_prefix = fields.OptionalText("path", {}).value_or("");
  const std::optional<int64_t> pause =
      fields.OptionalInteger("pause_ms", {.min = 0, .max = 60'000});
  fields.RefuseOthers();
  RETURN_IF_ERROR(fields.status());
  ASSIGN_OR_RETURN(fault.kind, ParseKind(kind));
  if (times) fault.times_left = static_cast<uint64_t>(*times);
  if (pause) fault.slow_pause = std::chrono::milliseconds(*pause);

  MutexLock lock(mutex_);
  if (!request_counts_.contains(fault.service)) {
    return InvalidArgument("service: there is no \"" + fault.service + "\"");
  }
  if (faults_.size() >= kFaultsMax) {
    return Status(Code::kResourceExhausted, "too many faults: clear them first");
  }
  faults_.push_back(fault);
  return fault;
}

void FaultBoard::Clear() {
  MutexLock lock(mutex_);
  faults_.clear();
}

std::optional<Fault> FaultBoard::OnRequest(const std::string& service, std::string_view path) {
  MutexLock lock(mutex_);
  ++request_counts_[service];
  for (auto fault = faults_.begin(); fault != faults_.end(); ++fault) {
    if (fault->service != service || !path.starts_with(fault->path_prefix)) continue;
    Fault found = *fault;
    if (fault->times_left && --*fault->times_left == 0) faults_.erase(fault);
    return found;
  }
  return std::nullopt;
}

std::vector<Fault> FaultBoard::faults() const {
  MutexLock lock(mutex_);
  return faults_;
}

std::map<std::string, uint64_t> FaultBoard::request_counts() const {
  MutexLock lock(mutex_);
  return request_counts_;
}

}  // namespace hearth::sandbox
