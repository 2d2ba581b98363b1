// The document that benchmarks read, write and listen to.
#pragma once

#include <string>
#include <string_view>

#include "google/firestore/v1/firestore.pb.h"

namespace hearth::bench {

inline constexpr char kDatabase[] = "projects/bench/databases/(default)";

inline std::string DocumentName(std::string_view collection, int index) {
  return (std::string(kDatabase) + "/documents/").append(collection) + "/document-" +
         std::to_string(index);
}

// The value of the field "url", different in each document.
inline std::string DocumentUrl(int index) {
  return "https://example.com/articles/" + std::to_string(index);
}

// Ten fields of common types, about 400 bytes. A new `round` makes every write a change.
inline void FillDocument(std::string_view collection, int index, int round,
                         google::firestore::v1::Document* document) {
  document->set_name(DocumentName(collection, index));
  auto& fields = *document->mutable_fields();
  fields["title"].set_string_value("The document number " + std::to_string(index));
  fields["author"].set_string_value("somebody-" + std::to_string(index % 97));
  fields["url"].set_string_value(DocumentUrl(index));
  fields["score"].set_integer_value(index * 7 + round);
  fields["comments"].set_integer_value(index % 500);
  fields["ratio"].set_double_value(index / 3.0);
  fields["published"].set_boolean_value(index % 2 == 0);
  fields["created"].mutable_timestamp_value()->set_seconds(1'700'000'000 + index);
  auto* tags = fields["tags"].mutable_array_value();
  for (const char* tag : {"fire", "place", "stone"}) tags->add_values()->set_string_value(tag);
  (*fields["place"].mutable_map_value()->mutable_fields())["city"].set_string_value("Hamburg");
}

}  // namespace hearth::bench
