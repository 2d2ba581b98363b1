#include "index/definition.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace hearth::index {
namespace {

bool IsOrdered(const IndexField& field) { return field.mode != FieldMode::kContains; }

bool FirstDirectionIsDescending(const Definition& definition) {
  const auto first = std::find_if(definition.fields.begin(), definition.fields.end(), IsOrdered);
  return first == definition.fields.end() ? definition.name_descending
                                          : first->mode == FieldMode::kDescending;
}

FieldMode TurnedRound(FieldMode mode) {
  switch (mode) {
    case FieldMode::kAscending:
      return FieldMode::kDescending;
    case FieldMode::kDescending:
      return FieldMode::kAscending;
    case FieldMode::kContains:
      break;  // Membership has no direction.
  }
  return mode;
}

std::string_view ModeText(FieldMode mode) {
  switch (mode) {
    case FieldMode::kAscending:
      return "ASC";
    case FieldMode::kDescending:
      return "DESC";
    case FieldMode::kContains:
      break;
  }
  return "CONTAINS";
}

}  // namespace

Definition Canonical(Definition definition) {
  if (definition.vector) {
    for (IndexField& field : definition.fields) {
      if (IsOrdered(field)) field.mode = FieldMode::kAscending;
    }
    definition.name_descending = false;
    return definition;
  }
  if (!FirstDirectionIsDescending(definition)) return definition;
  for (IndexField& field : definition.fields) field.mode = TurnedRound(field.mode);
  definition.name_descending = !definition.name_descending;
  return definition;
}

std::string Properties(const Definition& definition) {
  std::string text = "(";
  for (const IndexField& field : definition.fields) {
    text += field.path.ToString();
    text += ' ';
    text += ModeText(field.mode);
    text += ", ";
  }
  text += definition.name_descending ? "__name__ DESC" : "__name__ ASC";
  if (definition.vector) {
    text += ", " + definition.vector->path.ToString() + " VECTOR<" +
            std::to_string(definition.vector->dimension) + ">";
  }
  return text + ")";
}

}  // namespace hearth::index
