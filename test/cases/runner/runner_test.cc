// The runner itself: cases that must fail do fail, and give the reason.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "cases/runner/case_file.h"
#include "cases/runner/doors.h"
#include "cases/runner/run.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::cases {
namespace {

using testing::HasSubstr;

Door& EngineDoor() {
  static const std::unique_ptr<Door> door = NewEngineDoor();
  return *door;
}

// Everything that the parser and a run report about a case.
std::string Complaints(const Result<Case>& loaded) {
  static int projects = 0;
  if (!loaded.ok()) return loaded.status().message();
  std::string complaints;
  for (const Variant& variant : loaded->variants) {
    const Status status = Rehearse(*loaded, variant, nullptr).status();
    if (!status.ok()) return status.message();
    const std::string database =
        "projects/runner-test-" + std::to_string(++projects) + "/databases/(default)";
    complaints += RunVariant(*loaded, variant, "engine", EngineDoor(), database).text;
  }
  return complaints;
}

std::vector<std::string> FailingCases() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(HEARTH_FAILING_CASES)) {
    files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(CaseRunnerTest, CasesThatMustFailDoFailAndSayWhy) {
  ConfigureLog(LogLevel::kWarning, LogFormat::kText);
  size_t cases = 0;
  for (const std::string& file : FailingCases()) {
    SCOPED_TRACE(file);
    std::ifstream stream(file);
    std::vector<std::string> wanted;
    for (std::string line; std::getline(stream, line);) {
      if (line.starts_with("# Fails: ")) wanted.push_back(line.substr(9));
    }
    ASSERT_FALSE(wanted.empty());
    const std::string complaints = Complaints(LoadCase(file));
    for (const std::string& text : wanted) EXPECT_THAT(complaints, HasSubstr(text));
    ++cases;
  }
  EXPECT_GT(cases, 30u);
}

TEST(CaseRunnerTest, ACaseNeedsAReason) {
  EXPECT_THAT(Complaints(ParseCase("x.case", "put rooms/a {}\n")),
              HasSubstr("x.case:1: a case begins with \"# Why: \""));
  EXPECT_THAT(Complaints(ParseCase("x.case", "# Why:\nput rooms/a {}\n")),
              HasSubstr("x.case:1: a case begins with \"# Why: \""));
}

TEST(CaseRunnerTest, TablesMultiplyACase) {
  const Result<Case> loaded = ParseCase("x.case",
                                        "# Why: so.\n"
                                        "table a | b\n  1 | 2\n  3 | 4\n"
                                        "table c\n  5\n  6\n"
                                        "put rooms/a {\"a\": $a, \"b\": ${b}0, \"c\": $c}\n");
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  std::vector<std::string> statements;
  for (const Variant& variant : loaded->variants) {
    statements.push_back(variant.steps.front().action.head.text);
  }
  EXPECT_THAT(statements, testing::ElementsAre("put rooms/a {\"a\": 1, \"b\": 20, \"c\": 5}",
                                               "put rooms/a {\"a\": 1, \"b\": 20, \"c\": 6}",
                                               "put rooms/a {\"a\": 3, \"b\": 40, \"c\": 5}",
                                               "put rooms/a {\"a\": 3, \"b\": 40, \"c\": 6}"));
}

TEST(CaseRunnerTest, LinesOfABlockRepeat) {
  const Result<Case> loaded =
      ParseCase("x.case", "# Why: so.\ncommit\n  for i in 08..10 put rooms/r$i {}\n");
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  std::vector<std::string> lines;
  for (const Line& line : loaded->variants.front().steps.front().action.body) {
    lines.push_back(line.text);
  }
  EXPECT_THAT(lines,
              testing::ElementsAre("put rooms/r08 {}", "put rooms/r09 {}", "put rooms/r10 {}"));
}

// The engine, pretending to be the emulator.
class EmulatorDoor final : public Door {
 public:
  bool is_emulator() const override { return true; }
  std::optional<std::string> WhyNot(const Operation& operation) const override {
    return EngineDoor().WhyNot(operation);
  }
  std::optional<std::string> WhyNotListen(const proto::Target& target) const override {
    return EngineDoor().WhyNotListen(target);
  }
  bool Shows(Detail detail) const override { return EngineDoor().Shows(detail); }
  std::unique_ptr<Session> Open(const std::string& database) override {
    return EngineDoor().Open(database);
  }
};

TEST(CaseRunnerTest, ChecksForTheEmulatorStandForTheOthersThere) {
  const Result<Case> loaded =
      ParseCase("x.case",
                "# Why: so.\nput rooms/a {\"n\": 1}\nget rooms/a\nexpect {\"n\": 1}\n"
                "emulator expect {\"n\": 2} because it counts otherwise\n");
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  const Variant& variant = loaded->variants.front();
  const std::string database = "projects/runner-test-emulator/databases/(default)";
  EXPECT_EQ(RunVariant(*loaded, variant, "engine", EngineDoor(), database).text, "");
  EmulatorDoor emulator;
  EXPECT_THAT(RunVariant(*loaded, variant, "emulator", emulator, database).text,
              HasSubstr("x.case:5: emulator: expect {\"n\": 2}"));
}

struct Ran {
  int code;
  std::string output;
};

Ran RunRunner(const std::string& arguments) {
  FILE* pipe = popen((std::string(HEARTH_CASE_RUNNER) + " " + arguments).c_str(), "r");
  CHECK(pipe != nullptr);
  Ran ran;
  for (char part[1024]; const size_t size = fread(part, 1, sizeof(part), pipe);) {
    ran.output.append(part, size);
  }
  ran.code = WEXITSTATUS(pclose(pipe));
  return ran;
}

TEST(CaseRunnerTest, SaysWhereACaseFailedAndWhatCameInstead) {
  const storage::TemporaryFolder folder;
  const std::string path = folder.path() + "/wrong.case";
  std::ofstream(path) << "# Why: it must fail.\nput rooms/a {\"n\": 1}\nget rooms/a\n"
                         "expect {\"n\": 2}\n";
  const Ran ran = RunRunner("--door engine " + folder.path());
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.output, HasSubstr(path + ":4: engine: expect {\"n\": 2}"));
  EXPECT_THAT(ran.output, HasSubstr("expected  {\"n\": 2}"));
  EXPECT_THAT(ran.output, HasSubstr("got       {\"n\": 1}"));
  EXPECT_THAT(ran.output, HasSubstr("engine: 0 passed, 1 failed, 0 skipped"));
}

TEST(CaseRunnerTest, ADoorThatSkipsTooMuchFails) {
  const storage::TemporaryFolder folder;
  std::ofstream(folder.path() + "/one.case") << "# Why: so.\nput rooms/a {}\n";
  std::ofstream(folder.path() + "/two.case")
      << "# Why: so.\nonly grpc because it is\nput rooms/a {}\n";
  const std::string arguments = "--door engine " + folder.path() + " --run-percent-min ";
  EXPECT_EQ(RunRunner(arguments + "50").code, 0);
  const Ran ran = RunRunner(arguments + "51");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.output, HasSubstr("engine: 1 passed, 0 failed, 1 skipped"));
  EXPECT_THAT(ran.output, HasSubstr("engine: of 2 cases 1 were run, 51 % have to be"));
}

}  // namespace
}  // namespace hearth::cases
