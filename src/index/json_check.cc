#include "index/json_check.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hearth::index {
namespace {

// Handles the parser's events. Returning false stops the parser.
class Checker : public nlohmann::json_sax<nlohmann::json> {
 public:
  Checker(std::string_view text, size_t depth_max) : text_(text), depth_max_(depth_max) {}

  const Status& status() const { return status_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return Open(); }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override { return Open(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    status_ = InvalidArgument("the key \"" + name + "\" occurs twice in one object");
    return false;
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    const std::string_view before = text_.substr(0, position == 0 ? 0 : position - 1);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0.
    status_ =
        InvalidArgument("not valid JSON at line " + std::to_string(line) + ", column " +
                        std::to_string(std::min(before.size(), text_.size()) - line_start + 1));
    return false;
  }

 private:
  bool Open() {
    keys_.emplace_back();
    if (keys_.size() <= depth_max_) return true;
    status_ = InvalidArgument("nested more than " + std::to_string(depth_max_) + " deep");
    return false;
  }

  bool Close() {
    keys_.pop_back();
    return true;
  }

  const std::string_view text_;
  const size_t depth_max_;
  std::vector<std::set<std::string>> keys_;  // The keys of each open object; empty for an array.
  Status status_;
};

}  // namespace

Status CheckJson(std::string_view text, size_t depth_max) {
  Checker checker(text, depth_max);
  const bool strict = true;
  const bool ignore_comments = true;
  // The status has the failure: parse_error and the other functions set it whenever they return
  // false.
  static_cast<void>(nlohmann::json::sax_parse(text, &checker, nlohmann::json::input_format_t::json,
                                              strict, ignore_comments));
  return checker.status();
}

}  // namespace hearth::index
