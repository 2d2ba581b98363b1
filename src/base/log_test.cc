#include "base/log.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

constexpr int64_t kNoon = 1'700'000'000'000'042;

TEST(FormatLogLine, TextQuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(FormatLogLine(LogFormat::kText, kNoon, LogLevel::kInfo, "listening",
                          {{"address", "127.0.0.1:8080"}, {"loops", 2}, {"note", "a b"}}),
            "2023-11-14T22:13:20.000042Z info listening address=127.0.0.1:8080 loops=2 "
            "note=\"a b\"");
}

TEST(FormatLogLine, JsonKeepsNumbersBare) {
  EXPECT_EQ(FormatLogLine(LogFormat::kJson, kNoon, LogLevel::kError, "stop",
                          {{"why", "say \"no\""}, {"count", 3}}),
            R"({"time":"2023-11-14T22:13:20.000042Z","level":"error","event":"stop",)"
            R"("why":"say \"no\"","count":3})");
}

TEST(FormatLogLine, AValueCannotForgeALine) {
  const std::string line = FormatLogLine(LogFormat::kText, kNoon, LogLevel::kInfo, "request",
                                         {{"path", std::string("/x\nerror forged")}});
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(FormatLogLine, AValueCannotControlATerminal) {
  const std::string forged =
      "a\x1b[2K\r\x7f\xc2\x9b"
      "31m\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6z";
  const std::string escaped = R"("a\u001b[2K\u000d\u007f\u009b31m\u2028\u202e\u2066z")";
  const std::string text =
      FormatLogLine(LogFormat::kText, kNoon, LogLevel::kInfo, "request", {{"path", forged}});
  EXPECT_TRUE(text.ends_with(" info request path=" + escaped)) << text;
  const std::string json =
      FormatLogLine(LogFormat::kJson, kNoon, LogLevel::kInfo, "request", {{"path", forged}});
  EXPECT_TRUE(json.ends_with("\"path\":" + escaped + "}")) << json;
}

TEST(FormatLogLine, AnEventCannotForgeALine) {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    const std::string line = FormatLogLine(format, kNoon, LogLevel::kInfo, "a\nb\x1b", {});
    EXPECT_NE(line.find("a\\u000ab\\u001b"), std::string::npos) << line;
  }
}

TEST(FormatLogLine, BytesThatAreNoTextAreReplaced) {
  const std::string line = FormatLogLine(LogFormat::kJson, kNoon, LogLevel::kInfo, "serving",
                                         {{"data", std::string("a\xff\xc3")}});
  EXPECT_NE(line.find(R"("data":"a\ufffd\ufffd")"), std::string::npos) << line;
}

}  // namespace
}  // namespace hearth
