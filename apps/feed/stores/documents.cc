#include "apps/feed/stores/documents.h"

namespace hearth::feed {
namespace {

const client::Value* Find(const client::Map& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() ? nullptr : &found->second;
}

}  // namespace

int64_t IntegerOf(const client::Map& fields, std::string_view name) {
  const client::Value* value = Find(fields, name);
  return value == nullptr ? 0 : value->integer().value_or(0);
}

std::string TextOf(const client::Map& fields, std::string_view name) {
  const client::Value* value = Find(fields, name);
  return value == nullptr || value->text() == nullptr ? "" : *value->text();
}

bool BooleanOf(const client::Map& fields, std::string_view name) {
  const client::Value* value = Find(fields, name);
  return value != nullptr && value->boolean().value_or(false);
}

int64_t SecondsOf(const client::Map& fields, std::string_view name) {
  const client::Value* value = Find(fields, name);
  return value == nullptr ? 0 : value->timestamp().value_or(client::Timestamp()).seconds();
}

bool IsMadeBy(const std::string& maker, const client::DocumentSnapshot& document) {
  return document.exists() && TextOf(document.Data(), kMakerField) == maker;
}

}  // namespace hearth::feed
