// Structured logs: one line per event, with named fields, on standard error.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

namespace hearth {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };

// One named value of an event. Numbers are bare in JSON, everything else is quoted.
struct LogField {
  LogField(std::string_view field_name, std::string_view text)
      : name(field_name), value(text), is_number(false) {}
  LogField(std::string_view field_name, const char* text)
      : LogField(field_name, std::string_view(text)) {}
  LogField(std::string_view field_name, const std::string& text)
      : LogField(field_name, std::string_view(text)) {}
  template <std::integral Number>
  LogField(std::string_view field_name, Number number)
      : name(field_name), value(std::to_string(number)), is_number(true) {}

  std::string name;
  std::string value;
  bool is_number;
};

// Call once at startup, before any other thread runs.
void ConfigureLog(LogLevel least, LogFormat format);

// Writes one line: time, level, event, fields. Threads: safe for concurrent use; lines never
// interleave.
void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

// The line that Log writes, without the newline.
std::string FormatLogLine(LogFormat format, int64_t wall_micros, LogLevel level,
                          std::string_view event, std::initializer_list<LogField> fields);

}  // namespace hearth
