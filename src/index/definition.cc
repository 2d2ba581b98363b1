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
    case FieldMode::kMapEntries:
      break;  // Membership has no direction, and maps only one.
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
      return "CONTAINS";
    case FieldMode::kMapEntries:
      break;
  }
  return "MAP";
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

std::optional<size_t> MapPosition(const Definition& definition) {
  for (size_t i = 0; i < definition.fields.size(); ++i) {
    if (definition.fields[i].mode == FieldMode::kMapEntries) return i;
  }
  return std::nullopt;
}

std::optional<Definition> SharedForm(const Definition& definition, size_t position) {
  if (definition.vector || MapPosition(definition)) return std::nullopt;
  const IndexField& field = definition.fields[position];
  std::optional<model::FieldPath> map = field.path.Parent();
  if (!map || field.mode != FieldMode::kAscending) return std::nullopt;
  Definition shared = definition;
  shared.fields[position] = {*std::move(map), FieldMode::kMapEntries};
  return shared;
}

std::optional<Definition> FormFor(const model::FieldPath& path, const Definition& shared) {
  const std::optional<size_t> position = MapPosition(shared);
  if (!position || path.Parent() != shared.fields[*position].path) return std::nullopt;
  Definition form = shared;
  form.fields[*position] = {path, FieldMode::kAscending};
  return form;
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
