#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::model {

enum class IdKind : uint8_t { kCollection, kDocument };

// The rules that apply to every id in any position, except that it is not empty, "." or "..".
Status CheckIdText(IdKind kind, std::string_view id);

// Parses a resource name from left to right and stops at the first error, which status() then
// describes with Firestore's message. Every function returns false on an error. Borrows its
// arguments.
class NameParser {
 public:
  // `noun` begins the error messages: "Document name".
  NameParser(std::string_view noun, std::string_view text) : noun_(noun), text_(text) {}

  [[nodiscard]] bool Utf8();
  [[nodiscard]] bool Database();   // "projects/P/databases/D"
  [[nodiscard]] bool Documents();  // "/documents"
  [[nodiscard]] bool End();        // End of the text.
  // The '/' between "/documents" and a path.
  [[nodiscard]] bool PathSeparator();
  // The rest of the text, such as "rooms/r1/messages/m7" if `last` is a document.
  [[nodiscard]] bool Path(IdKind last);
  bool AtEnd() const { return position_ == text_.size(); }
  size_t position() const { return position_; }
  // The error for a name that ends with "/documents" where a document's path must follow.
  Status MissingPath() const;
  Status status() const { return status_; }

 private:
  bool Fail(std::string message);
  // `complaint` follows the quoted name in the message.
  bool FailHere(std::string_view complaint);
  bool FailAt(size_t position, std::string_view complaint);
  bool Slash();
  bool Literal(std::string_view word);
  // One segment other than "", "." and "..".
  bool Segment(std::string_view what, std::string_view* segment);
  bool Id(IdKind kind);

  const std::string_view noun_;
  const std::string_view text_;
  size_t position_ = 0;
  Status status_;
};

}  // namespace hearth::model
