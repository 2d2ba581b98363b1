#include "server/table.h"

#include <gtest/gtest.h>

namespace hearth::server {
namespace {

TEST(FormatTable, AlignsColumns) {
  EXPECT_EQ(FormatTable({}), "");
  EXPECT_EQ(FormatTable({{"A", "LONG NAME", "C"}, {"abc", "x", "yz"}}),
            "A    LONG NAME  C\n"
            "abc  x          yz\n");
}

TEST(FormatTable, CountsCharactersNotBytes) {
  EXPECT_EQ(FormatTable({{"\xC3\xA9", "x"}, {"ab", "y"}}), "\xC3\xA9   x\nab  y\n");
}

TEST(FormatTable, ACellCannotControlTheTerminal) {
  EXPECT_EQ(FormatTable({{"a\x1b[2Jb\nc", "x"}}), "a\\u001b[2Jb\\u000ac  x\n");
}

TEST(FormatBytes, ChoosesTheUnit) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1'023), "1023 B");
  EXPECT_EQ(FormatBytes(1'536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(12 * 1'024 * 1'024), "12 MiB");
  EXPECT_EQ(FormatBytes(uint64_t{5'000} << 40), "5000 TiB");
}

}  // namespace
}  // namespace hearth::server
