#include "wire/order_by.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "base/status_macros.h"
#include "base/text.h"

namespace hearth::wire {
namespace {

using model::FieldPath;
using query::Order;
using query::SortDirection;

// The part of `text` before the first of `stops` outside backticks.
std::string_view TakeUntil(std::string_view stops, std::string_view text) {
  bool is_quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '`') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && stops.find(text[i]) != std::string_view::npos) {
      return text.substr(0, i);
    }
  }
  return text;
}

std::optional<SortDirection> ParseDirection(std::string_view word) {
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower.empty() || lower == "asc") return SortDirection::kAscending;
  if (lower == "desc") return SortDirection::kDescending;
  return std::nullopt;
}

// `text`: all clauses, for the error message about a clause that is not a path with an optional
// direction.
Result<Order> ParseOrder(std::string_view clause, std::string_view text) {
  clause = Trim(clause);
  const std::string_view path_text = TakeUntil(kSpaceOrTab, clause);
  const std::optional<SortDirection> direction =
      ParseDirection(Trim(clause.substr(path_text.size())));
  if (!direction || !FieldPath::IsWellFormed(path_text)) {
    return InvalidArgument("Invalid order by clause \"" + std::string(text) + "\".");
  }
  ASSIGN_OR_RETURN(FieldPath path, FieldPath::Parse(path_text));
  return Order{std::move(path), *direction};
}

}  // namespace

Result<std::vector<Order>> ParseOrderBy(std::string_view text) {
  std::vector<Order> orders;
  if (text.empty()) return orders;
  for (std::string_view rest = text;;) {
    const std::string_view clause = TakeUntil(",", rest);
    ASSIGN_OR_RETURN(Order order, ParseOrder(clause, text));
    if (!orders.empty() && orders.back().path.IsName()) {
      return InvalidArgument("order by clause cannot contain more fields after the key");
    }
    if (orders.size() == kOrdersMax) {
      return InvalidArgument("order by clause cannot contain more than " +
                             std::to_string(kOrdersMax) + " fields");
    }
    if (std::ranges::find(orders, order.path, &Order::path) != orders.end()) {
      return InvalidArgument("order by clause cannot contain duplicate fields " +
                             order.path.ToString());
    }
    orders.push_back(std::move(order));
    if (clause.size() == rest.size()) return orders;
    rest.remove_prefix(clause.size() + 1);
  }
}

}  // namespace hearth::wire
