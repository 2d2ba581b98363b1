#include "doors/control/emulator_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/testing/test_engine.h"
#include "http/testing/test_http2_client.h"
#include "http/testing/test_server.h"
#include "http/testing/test_socket.h"

namespace hearth::doors::control {
namespace {

using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

const std::string kBase = "/emulator/v1/projects/p1/databases/";
const std::string kDocuments = kBase + "(default)/documents";

class EmulatorServiceTest : public testing::Test {
 protected:
  EmulatorServiceTest() {
    server_.router.AddService("/emulator/", service_);
    server_.Start();
  }

  std::string Ask(std::string_view method, const std::string& target,
                  const std::string& headers = "", const std::string& body = "") {
    http::TestSocket socket(server_.port());
    socket.Send(std::string(method) + " " + target + " HTTP/1.1\r\nhost: localhost\r\n" +
                "connection: close\r\ncontent-length: " + std::to_string(body.size()) + "\r\n" +
                headers + "\r\n" + body);
    return socket.ReadToEnd();
  }
  static std::string BodyOf(const std::string& answer) {
    return answer.substr(answer.find("\r\n\r\n") + 4);
  }
  // Fails unless the request is refused in Google's form. Returns the message.
  std::string Refusal(const std::string& answer, int code, std::string_view status) {
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + std::to_string(code) + " "));
    const json error = json::parse(BodyOf(answer))["error"];
    EXPECT_EQ(error["code"], code);
    EXPECT_EQ(error["status"], status);
    return error["message"];
  }
  void Fill() {
    engine_.MustCommit({SetNumber("c/d", 1), SetNumber("c/d/s/x", 1), SetNumber("c/e", 1),
                        SetNumber("b/f", 1), SetNumber("m/missing/s/x", 1),
                        SetNumber("c/a%2Fb", 1)});
  }
  std::vector<std::string> Left() {
    const auto view = engine_.Read(request::Now{}, engine::TestEngine::Everything());
    const std::map<std::string, std::string> documents = *engine::ScanAll(**view);
    std::vector<std::string> paths;
    for (const auto& [path, record] : documents) paths.push_back(path);
    return paths;
  }

  engine::TestEngine engine_;
  const access::AccessPolicy policy_{"secret", {"p2"}};
  EmulatorService service_{engine_.engine(), policy_};
  http::TestServer server_;
};

TEST_F(EmulatorServiceTest, DeletesAllDocuments) {
  Fill();
  const std::string answer = Ask("DELETE", kDocuments);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("content-type: application/json\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n{\n}\n"));
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(EmulatorServiceTest, HeadersBodiesAndParametersDoNotMatter) {
  for (const char* headers :
       {"authorization: Bearer owner\r\n", "content-type: text/plain\r\n", "accept: */*\r\n"}) {
    Fill();
    EXPECT_THAT(Ask("DELETE", kDocuments + "?x=y", headers, "garbage"),
                StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(Left(), IsEmpty());
  }
  Fill();
  EXPECT_THAT(Ask("DELETE", kBase + "%28default%29/documents"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(EmulatorServiceTest, OnlyTheAdministratorClearsAProtectedProject) {
  const std::string documents = "/emulator/v1/projects/p2/databases/(default)/documents";
  for (const char* stranger : {"", "authorization: Bearer owner\r\n"}) {
    EXPECT_THAT(Refusal(Ask("DELETE", documents, stranger), 403, "PERMISSION_DENIED"),
                HasSubstr("admin.token"));
  }
  EXPECT_THAT(Ask("DELETE", documents, "authorization: Bearer secret\r\n"),
              StartsWith("HTTP/1.1 200 "));
}

TEST_F(EmulatorServiceTest, WorksOverHttp2) {
  Fill();
  http::TestHttp2Client client(server_.port());
  const int32_t stream = client.Open("DELETE", kDocuments, {});
  client.EndBody(stream);
  ASSERT_TRUE(client.UntilClosed(stream));
  EXPECT_EQ(client.answer(stream).http_status(), 200);
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(EmulatorServiceTest, APathLimitsWhatIsDeleted) {
  Fill();
  EXPECT_EQ(BodyOf(Ask("DELETE", kDocuments + "/no/such")), "{\n}\n");
  EXPECT_EQ(Left().size(), 6u);
  EXPECT_EQ(BodyOf(Ask("DELETE", kDocuments + "/c/a%2Fb")), "{\n}\n");
  EXPECT_THAT(Left(), UnorderedElementsAre("c/d", "c/d/s/x", "c/e", "b/f", "m/missing/s/x"));
  EXPECT_EQ(BodyOf(Ask("DELETE", kDocuments + "/c/d")), "{\n}\n");
  EXPECT_THAT(Left(), UnorderedElementsAre("c/e", "b/f", "m/missing/s/x"));
  EXPECT_EQ(BodyOf(Ask("DELETE", kDocuments + "/m/missing/s")), "{\n}\n");
  EXPECT_EQ(BodyOf(Ask("DELETE", kDocuments + "/c")), "{\n}\n");
  EXPECT_THAT(Left(), UnorderedElementsAre("b/f"));
}

TEST_F(EmulatorServiceTest, AnUnknownDatabaseIsEmptyAndStaysUnknown) {
  EXPECT_EQ(BodyOf(Ask("DELETE", kBase + "other/documents")), "{\n}\n");
  EXPECT_THAT(engine_.engine().Databases(), IsEmpty());
}

TEST_F(EmulatorServiceTest, RefusesNamesThatAreNone) {
  Fill();
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"/emulator/v1/projects//databases/(default)/documents",
       "Document parent name \"projects//databases/(default)/documents\" lacks a project id at "
       "index 9."},
      {kBase + "/documents",
       "Document parent name \"projects/p1/databases//documents\" lacks a database id at index "
       "22."},
      {kBase + "no!such/documents", "Illegal string \"no!such\" in database."},
      {kDocuments + "/c/",
       "Document parent name \"projects/p1/databases/(default)/documents/c/\" has invalid trailing "
       "\"/\"."},
      {kDocuments + "/__c__", "Collection id \"__c__\" is invalid because it is reserved."},
      {kDocuments + "/c/__d__", "Resource id \"__d__\" is invalid because it is reserved."},
      {kDocuments + "/c%zz", "the path has a '%' without two hex digits"}};
  for (const auto& [target, message] : refused) {
    EXPECT_EQ(Refusal(Ask("DELETE", target), 400, "INVALID_ARGUMENT"), message);
  }
  EXPECT_THAT(Refusal(Ask("DELETE", kDocuments + "/"), 400, "INVALID_ARGUMENT"),
              HasSubstr("trailing \"/\""));
  EXPECT_EQ(Left().size(), 6u);
}

TEST_F(EmulatorServiceTest, OtherMethodsAndPathsAreNotFound) {
  Fill();
  for (const char* method : {"GET", "POST", "PUT", "PATCH"}) {
    Refusal(Ask(method, kDocuments), 404, "NOT_FOUND");
  }
  EXPECT_THAT(Ask("HEAD", kDocuments), StartsWith("HTTP/1.1 404 "));
  for (const std::string& target :
       {kBase + "(default)", kDocuments + ":all", std::string("/emulator/v1/projects/p1"),
        std::string("/emulator/v2/projects/p1/databases/d/documents"), std::string("/emulator/")}) {
    Refusal(Ask("DELETE", target), 404, "NOT_FOUND");
  }
  EXPECT_EQ(Left().size(), 6u);
}

TEST_F(EmulatorServiceTest, WebPagesMayAsk) {
  Fill();
  const std::string origin = "origin: http://localhost:3000\r\n";
  const std::string preflight = Ask("OPTIONS", kDocuments,
                                    origin +
                                        "access-control-request-method: DELETE\r\n"
                                        "access-control-request-headers: authorization\r\n");
  EXPECT_THAT(preflight, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(preflight, HasSubstr("access-control-allow-origin: http://localhost:3000\r\n"));
  EXPECT_THAT(preflight, HasSubstr("access-control-allow-methods: "));
  EXPECT_THAT(preflight, HasSubstr("DELETE"));
  EXPECT_THAT(preflight, HasSubstr("access-control-allow-headers: authorization\r\n"));
  EXPECT_EQ(BodyOf(preflight), "");
  EXPECT_EQ(Left().size(), 6u);

  const std::string answer = Ask("DELETE", kDocuments, origin);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("access-control-allow-origin: http://localhost:3000\r\n"));
  EXPECT_THAT(Left(), IsEmpty());
  // Errors are readable too, and requests without an origin get no CORS headers.
  EXPECT_THAT(Ask("GET", kDocuments, origin), HasSubstr("access-control-allow-origin: "));
  EXPECT_THAT(Ask("DELETE", kDocuments), Not(HasSubstr("access-control-")));
}

TEST_F(EmulatorServiceTest, ReportsAStoreThatFails) {
  Fill();
  engine_.store().FailCommit(1, Status(Code::kUnavailable, "the disk is gone"));
  EXPECT_EQ(Refusal(Ask("DELETE", kDocuments), 503, "UNAVAILABLE"), "the disk is gone");
  EXPECT_EQ(Left().size(), 6u);
}

}  // namespace
}  // namespace hearth::doors::control
