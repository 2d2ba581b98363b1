#include "model/field_path.h"

#include <gtest/gtest.h>

namespace hearth::model {
namespace {

using Segments = std::vector<std::string>;

Segments Parsed(std::string_view text) { return FieldPath::Parse(text)->segments(); }

TEST(FieldPathTest, SplitsAtDots) {
  EXPECT_EQ(Parsed("a"), Segments({"a"}));
  EXPECT_EQ(Parsed("address.city"), Segments({"address", "city"}));
  EXPECT_EQ(Parsed("_1.A_b2"), Segments({"_1", "A_b2"}));
  EXPECT_EQ(Parsed("prices.`2024-01`.`a.b`.x"), Segments({"prices", "2024-01", "a.b", "x"}));
  EXPECT_EQ(Parsed("`a`"), Segments({"a"}));
  EXPECT_EQ(Parsed("`é \n`"), Segments({"é \n"}));
  EXPECT_EQ(Parsed("__.___"), Segments({"__", "___"}));
}

TEST(FieldPathTest, UnderstandsTheEscapesOfC) {
  EXPECT_EQ(Parsed(R"(`a\`b`)"), Segments({"a`b"}));
  EXPECT_EQ(Parsed(R"(`a\\`)"), Segments({"a\\"}));
  EXPECT_EQ(Parsed(R"(`\a\b\f\n\r\t\v\'\"\?`)"), Segments({"\a\b\f\n\r\t\v'\"?"}));
  EXPECT_EQ(Parsed(R"(`\x41\101\u0041`)"), Segments({"AAA"}));
}

TEST(FieldPathTest, RefusesBadSyntax) {
  for (const char* text :
       {".",     "a.",    ".a",    "a..b",  "1a",     "a-b",     "a b",       "`a",     "a`b",
        "``",    "`a`b",  "a[0]",  "*",     "é",      "a/b",     "$a",        "a\n",    "`a\\",
        "`a\\`", "`\\q`", "`\\0`", "`\\.`", "`\\x4`", "`\\xff`", "`\\u00e9`", "`\\x 1`"}) {
    EXPECT_EQ(
        FieldPath::Parse(text).status(),
        InvalidArgument("Invalid property path \"" + std::string(text) +
                        "\". Unquoted property paths must match regex "
                        "([a-zA-Z_][a-zA-Z_0-9]*), and quoted property paths must match regex "
                        R"((`(?:[^`\\]|(?:\\.))+`))"))
        << text;
    EXPECT_FALSE(FieldPath::IsWellFormed(text)) << text;
  }
  EXPECT_FALSE(FieldPath::IsWellFormed(""));
  EXPECT_FALSE(FieldPath::IsWellFormed("`\xff`"));
  for (const std::string& text : {std::string("a.`b c`"), std::string("__foo__"),
                                  std::string("__name__.x"), std::string(1501, 'a')}) {
    EXPECT_TRUE(FieldPath::IsWellFormed(text));
  }
  EXPECT_EQ(FieldPath::Parse("").status(), InvalidArgument("Invalid empty property path string."));
  EXPECT_EQ(FieldPath::Parse("`\xff`").status(),
            InvalidArgument("Property path is not valid UTF-8."));
}

TEST(FieldPathTest, RefusesReservedNames) {
  for (const char* text : {"__foo__", "a.__foo__", "`__foo__`", "__foo__.a"}) {
    EXPECT_EQ(FieldPath::Parse(text).status(),
              InvalidArgument("Invalid reserved name in field path __foo__"));
  }
  for (const char* text : {"____", "a.____", "`____`", "____.a"}) {
    EXPECT_EQ(FieldPath::Parse(text).status(),
              InvalidArgument("Invalid reserved name in field path ____"));
  }
  EXPECT_TRUE(FieldPath::Parse("__name__")->IsName());
  EXPECT_FALSE(FieldPath::Parse("name")->IsName());
  EXPECT_EQ(FieldPath::Parse("__name__.x").status(),
            InvalidArgument("the name __key__ is reserved"));
  EXPECT_EQ(FieldPath::Parse("x.__name__").status(),
            InvalidArgument("the name __key__ is reserved"));
}

TEST(FieldPathTest, LimitsBytesAndSegments) {
  EXPECT_TRUE(FieldPath::Parse(std::string(1500, 'a')).ok());
  EXPECT_TRUE(FieldPath::Parse("`" + std::string(1500, '-') + "`").ok());  // Quotes do not count.
  EXPECT_TRUE(FieldPath::Parse("b." + std::string(1498, 'a')).ok());
  const Status too_long = InvalidArgument("property path is longer than 1500 bytes.");
  EXPECT_EQ(FieldPath::Parse(std::string(1501, 'a')).status(), too_long);
  EXPECT_EQ(FieldPath::Parse("`" + std::string(1501, '-') + "`").status(), too_long);
  EXPECT_EQ(FieldPath::Parse("b." + std::string(1499, 'a')).status(), too_long);

  std::string path = "a";
  for (int i = 1; i < 20; ++i) path += ".a";
  EXPECT_TRUE(FieldPath::Parse(path).ok());
  EXPECT_EQ(FieldPath::Parse(path + ".a").status(),
            InvalidArgument("paths must have at most 20 elements"));
}

TEST(FieldPathTest, PrintsWhatItParses) {
  for (const char* text : {"a", "a.b_1", "`1a`.b", R"(`a\`\\b`)", "`a.b`", "`é`"}) {
    EXPECT_EQ(FieldPath::Parse(text)->ToString(), text);
  }
  EXPECT_EQ(FieldPath::Parse("`a`.b")->ToString(), "a.b");
}

TEST(FieldPathTest, PrefixesAndOrder) {
  const FieldPath a = *FieldPath::Parse("a");
  const FieldPath a_b = *FieldPath::Parse("a.b");
  const FieldPath dotted = *FieldPath::Parse("`a.b`");
  EXPECT_TRUE(a.IsPrefixOf(a));
  EXPECT_TRUE(a.IsPrefixOf(a_b));
  EXPECT_FALSE(a_b.IsPrefixOf(a));
  EXPECT_FALSE(a.IsPrefixOf(dotted));
  EXPECT_LT(a, a_b);
  EXPECT_LT(a_b, dotted);
  EXPECT_EQ(a_b, *FieldPath::Parse("`a`.b"));
}

}  // namespace
}  // namespace hearth::model
