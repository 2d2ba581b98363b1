#include "base/log.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <ctime>

#include "base/clock.h"
#include "base/text.h"

namespace hearth {
namespace {

std::atomic<LogLevel> least_level = LogLevel::kInfo;
std::atomic<LogFormat> line_format = LogFormat::kText;

constexpr std::array<std::string_view, 4> kLevelNames = {"debug", "info", "warning", "error"};

// Printable, so that no value can forge a second line or control a terminal, and every line stays
// valid JSON.
void AppendQuoted(std::string& line, std::string_view text) {
  std::string quoted;
  quoted.reserve(text.size() + 2);
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  line.append("\"").append(Printable(quoted)).append("\"");
}

std::string FormatTime(int64_t wall_micros) {
  const std::time_t seconds = wall_micros / 1'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  const size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + length, text.size() - length, ".%06dZ",
                static_cast<int>(wall_micros % 1'000'000));
  return text.data();
}

void AppendJson(std::string& line, std::string_view name, std::string_view value) {
  line.append(line.empty() ? "{" : ",");
  AppendQuoted(line, name);
  line.push_back(':');
  AppendQuoted(line, value);
}

}  // namespace

void ConfigureLog(LogLevel least, LogFormat format) {
  least_level = least;
  line_format = format;
}

std::string FormatLogLine(LogFormat format, int64_t wall_micros, LogLevel level,
                          std::string_view event, std::initializer_list<LogField> fields) {
  const std::string_view level_name = kLevelNames[static_cast<size_t>(level)];
  std::string line;
  if (format == LogFormat::kText) {
    line.append(FormatTime(wall_micros)).append(" ").append(level_name).append(" ");
    line.append(Printable(event));
    for (const LogField& field : fields) {
      line.append(" ").append(field.name).append("=");
      const bool is_plain = !field.value.empty() && Printable(field.value) == field.value &&
                            field.value.find_first_of(" \"\\=") == std::string::npos;
      if (is_plain) {
        line.append(field.value);
      } else {
        AppendQuoted(line, field.value);
      }
    }
    return line;
  }
  AppendJson(line, "time", FormatTime(wall_micros));
  AppendJson(line, "level", level_name);
  AppendJson(line, "event", event);
  for (const LogField& field : fields) {
    if (field.is_number) {
      line.push_back(',');
      AppendQuoted(line, field.name);
      line.append(":").append(field.value);
    } else {
      AppendJson(line, field.name, field.value);
    }
  }
  line.push_back('}');
  return line;
}

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (level < least_level) return;
  std::string line = FormatLogLine(line_format, SystemClock().WallMicros(), level, event, fields);
  line.push_back('\n');
  // One write call per line keeps lines of different threads apart. A log that cannot be written
  // must not stop the server.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace hearth
