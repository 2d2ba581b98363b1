// Values and names compared, decoded and printed by code of its own: what the code under test says
// about their order is not asked.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/field_path.h"
#include "model/testing/random_value.h"
#include "model/value.h"

namespace hearth::queries {

using model::Tree;
using Document = std::map<std::string, Tree>;
// By path. The documents are shared with earlier states of the database.
using Documents = std::map<std::string, std::shared_ptr<const Document>>;

// Below, equal to or above zero, in Firestore's documented order of all values.
int CompareTrees(const Tree& left, const Tree& right);
// The same for the paths of documents: "c/a", "c/__id7__/s/x".
int ComparePaths(std::string_view left, std::string_view right);

Tree TreeOfType(model::ValueType type);
Tree IntegerTree(int64_t integer);
Tree DoubleTree(double number);
Tree DecodeTree(const model::ValueView& value);
bool IsNan(const Tree& tree);
bool IsNumber(const Tree& tree);
// The value at `path`; null where it leads nowhere. No path leads into a vector.
const Tree* Find(const Document& document, const model::FieldPath& path);

std::string Show(const Tree& tree);
std::string Show(const Document& document);
// Each with a space before it; " nothing" for none.
std::string ShowPaths(const std::vector<std::string>& paths);

}  // namespace hearth::queries
