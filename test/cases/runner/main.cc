// case_runner: runs cases through the doors of a database.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "cases/runner/case_file.h"
#include "cases/runner/run.h"
#include "cases/runner/servers.h"
#include "wire/requests.h"

namespace hearth::cases {
namespace {

constexpr int kSkipped = 77;  // The exit code that ctest interprets as "skipped".
constexpr size_t kFailuresShownMax = 25;

struct Options {
  std::vector<std::string> doors = {"engine"};
  std::vector<std::string> paths = {HEARTH_CASES};
  size_t jobs = 8;
  std::vector<int> run_percent_min = {0};  // One for all doors, or one per door.
  bool only_lists = false;
  bool shows_skipped = false;
};

// One variant of one case.
struct Task {
  const Case* test;
  const Variant* variant;
};

struct Report {
  size_t passed = 0;
  size_t unseen_checks = 0;
  std::vector<std::string> failures;
  std::map<std::string, size_t> skipped;  // By reason.
  size_t files = 0;                       // All cases.
  std::set<std::string> files_run;        // Of which at least one variant was run.
};

Result<std::vector<Case>> Load(const std::vector<std::string>& paths) {
  ASSIGN_OR_RETURN(const std::vector<std::string> files, FindCases(paths));
  std::vector<Case> cases;
  std::string errors;
  for (const std::string& file : files) {
    Result<Case> loaded = LoadCase(file);
    Status status = loaded.status();
    for (size_t i = 0; status.ok() && i < loaded->variants.size(); ++i) {
      status = Rehearse(*loaded, loaded->variants[i], nullptr).status();
    }
    if (!status.ok()) {
      errors += status.message() + "\n";
    } else {
      cases.push_back(*std::move(loaded));
    }
  }
  if (!errors.empty()) return InvalidArgument(errors);
  return cases;
}

// The name of the door in cases: the emulator's gRPC counts as gRPC.
std::string NameInCases(const std::string& door) {
  return door.starts_with("emulator_") ? door.substr(9) : door;
}

Outcome RunTask(const Task& task, const std::string& door_name, Door& door, size_t number) {
  const Case& test = *task.test;
  if (!test.IsFor(NameInCases(door_name))) {
    return {Outcome::Kind::kSkipped, "the case is not for this door"};
  }
  if (door.is_emulator() && test.emulator_skip) {
    return {Outcome::Kind::kSkipped, "the case is not for the emulator"};
  }
  const auto why_not = Rehearse(test, *task.variant, &door);
  if (!why_not.ok()) return {Outcome::Kind::kFailed, why_not.status().message()};
  if (*why_not) return {Outcome::Kind::kSkipped, **why_not};
  const std::string database = "projects/case-" + std::to_string(number) + "/databases/(default)";
  return RunVariant(test, *task.variant, door_name, door, database);
}

Report RunAll(const std::vector<Task>& tasks, const std::string& door_name, Door& door,
              size_t jobs) {
  // Doors that share a server run one after the other; every run uses different projects.
  static std::atomic<size_t> projects = 0;
  Mutex mutex;
  Report report;
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++) {
      const Outcome outcome = RunTask(tasks[i], door_name, door, ++projects);
      MutexLock lock(mutex);
      report.unseen_checks += outcome.unseen_checks;
      if (outcome.kind == Outcome::Kind::kPassed) ++report.passed;
      if (outcome.kind == Outcome::Kind::kFailed) report.failures.push_back(outcome.text);
      if (outcome.kind == Outcome::Kind::kSkipped) {
        ++report.skipped[outcome.text];
      } else {
        report.files_run.insert(tasks[i].test->path);
      }
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < jobs; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return report;
}

// False if a case failed, or the door skipped too many.
bool Print(const std::string& door, const Report& report, int run_percent_min,
           const Options& options) {
  std::vector<std::string> failures = report.failures;
  std::sort(failures.begin(), failures.end());
  for (size_t i = 0; i < std::min(failures.size(), kFailuresShownMax); ++i) {
    std::printf("%s\n", failures[i].c_str());
  }
  if (failures.size() > kFailuresShownMax) {
    std::printf("and %zu failures more\n\n", failures.size() - kFailuresShownMax);
  }
  size_t skipped = 0;
  for (const auto& [reason, count] : report.skipped) skipped += count;
  std::printf("%s: %zu passed, %zu failed, %zu skipped, %zu checks not visible there\n",
              door.c_str(), report.passed, failures.size(), skipped, report.unseen_checks);
  for (const auto& [reason, count] : report.skipped) {
    if (options.shows_skipped) std::printf("  %5zu skipped: %s\n", count, reason.c_str());
  }
  const size_t run = report.files_run.size();
  const bool runs_enough = run * 100 >= report.files * static_cast<size_t>(run_percent_min);
  if (!runs_enough || options.shows_skipped) {
    std::printf("%s: of %zu cases %zu were run, %d %% have to be\n", door.c_str(), report.files,
                run, run_percent_min);
  }
  return failures.empty() && runs_enough;
}

int List(const std::vector<Case>& cases) {
  for (const Case& test : cases) {
    std::printf("%s (%zu)\n    %s\n", test.path.c_str(), test.variants.size(), test.why.c_str());
    if (!test.differs.empty()) std::printf("    %s\n", test.differs.c_str());
  }
  return 0;
}

// Cases that leave requests waiting take longest, so they start first.
bool HasWaits(const Task& task) {
  return std::any_of(task.variant->steps.begin(), task.variant->steps.end(),
                     [](const Step& step) { return step.action.head.text.starts_with("start "); });
}

int Run(const Options& options) {
  const Result<std::vector<Case>> cases = Load(options.paths);
  if (!cases.ok()) {
    std::fprintf(stderr, "%s\n", cases.status().message().c_str());
    return 2;
  }
  if (options.only_lists) return List(*cases);
  std::vector<Task> tasks;
  for (const Case& test : *cases) {
    for (const Variant& variant : test.variants) tasks.push_back({&test, &variant});
  }
  std::stable_partition(tasks.begin(), tasks.end(), HasWaits);
  wire::SilenceProtobufLog();
  ConfigureLog(LogLevel::kWarning, LogFormat::kText);
  Servers servers;
  bool all_well = true;
  for (size_t i = 0; i < options.doors.size(); ++i) {
    const std::string& name = options.doors[i];
    const Result<std::unique_ptr<Door>> door = OpenDoor(name, servers);
    if (!door.ok()) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(), door.status().message().c_str());
      return door.status().code() == Code::kNotFound ? kSkipped : 2;
    }
    Report report = RunAll(tasks, name, **door, options.jobs);
    report.files = cases->size();
    const std::vector<int>& percents = options.run_percent_min;
    const int percent = percents[std::min(i, percents.size() - 1)];
    all_well &= Print(name, report, percent, options);
  }
  return all_well ? 0 : 1;
}

}  // namespace
}  // namespace hearth::cases

int main(int argc, char** argv) {
  hearth::cases::Options options;
  CLI::App app("Runs cases: text files that say what clients of Firestore can observe");
  app.add_option("--door", options.doors, "Which way: " + hearth::cases::DoorNames())
      ->take_all()
      ->allow_extra_args(false)
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("PATH", options.paths, "Cases, or folders of them; all if none is given");
  app.add_option("--jobs", options.jobs, "Cases at a time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--run-percent-min", options.run_percent_min,
                 "Fails when a door runs fewer of the cases than this, be it one variant of each")
      ->check(CLI::Range(0, 100))
      ->take_all()
      ->allow_extra_args(false)
      ->delimiter(',');
  app.add_flag("--list", options.only_lists, "Only list the cases and their reasons");
  app.add_flag("--skipped", options.shows_skipped, "Say why cases were skipped");
  CLI11_PARSE(app, argc, argv);
  return hearth::cases::Run(options);
}
