// Compares, decodes and prints values and names with separate code, which does not rely on the
// order of the code under test.
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

// Less than, equal to or greater than zero, in Firestore's documented order of all values.
int CompareTrees(const Tree& left, const Tree& right);
// The same for the paths of documents: "c/a", "c/__id7__/s/x".
int ComparePaths(std::string_view left, std::string_view right);

Tree TreeOfType(model::ValueType type);
Tree IntegerTree(int64_t integer);
Tree DoubleTree(double number);
Tree DecodeTree(const model::ValueView& value);
bool IsNan(const Tree& tree);
bool IsNumber(const Tree& tree);
// The value at `path`; null if there is none. No path leads into a vector.
const Tree* Find(const Document& document, const model::FieldPath& path);

std::string Show(const Tree& tree);
std::string Show(const Document& document);
// Each preceded by a space; " nothing" for none.
std::string ShowPaths(const std::vector<std::string>& paths);

}  // namespace hearth::queries
