#include "model/wire_format.h"

#include <gtest/gtest.h>

namespace hearth::model {
namespace {

using namespace std::string_literals;

TEST(WireFormatTest, VarintsRoundTripInTheirShortestForm) {
  for (unsigned bits = 0; bits < 64; ++bits) {
    const uint64_t power = uint64_t{1} << bits;
    for (const uint64_t number : {power - 1, power, power + 1, ~power}) {
      std::string bytes;
      AppendVarint(number, &bytes);
      EXPECT_EQ(bytes.size(), VarintSize(number));
      WireReader reader(bytes);
      uint64_t read = 0;
      ASSERT_TRUE(reader.Varint(&read));
      EXPECT_EQ(read, number);
      EXPECT_TRUE(reader.AtEnd());
      EXPECT_TRUE(reader.minimal());
    }
  }
}

TEST(WireFormatTest, NoticesVarintsThatAreTooLong) {
  const std::string bytes = "\x85\x00"s;
  WireReader reader(bytes);
  uint64_t number = 0;
  ASSERT_TRUE(reader.Varint(&number));
  EXPECT_EQ(number, 5u);
  EXPECT_FALSE(reader.minimal());
}

TEST(WireFormatTest, RefusesBrokenVarints) {
  uint64_t number;
  for (const std::string& bytes :
       {""s, "\x80"s, "\xff\xff"s, std::string(10, '\x80'), std::string(9, '\xff') + "\x02",
        std::string(10, '\xff') + "\x01"}) {
    EXPECT_FALSE(WireReader(bytes).Varint(&number)) << testing::PrintToString(bytes);
  }
  EXPECT_TRUE(WireReader(std::string(9, '\xff') + "\x01").Varint(&number));
  EXPECT_EQ(number, ~uint64_t{0});
}

TEST(WireFormatTest, RefusesBytesBeyondTheEnd) {
  std::string_view bytes;
  EXPECT_FALSE(WireReader(""s).Bytes(&bytes));
  EXPECT_FALSE(WireReader("\x03"s + "ab").Bytes(&bytes));
  EXPECT_FALSE(WireReader(std::string(9, '\xff') + "\x01").Bytes(&bytes));
  const std::string exact = "\x02"s + "ab";
  EXPECT_TRUE(WireReader(exact).Bytes(&bytes));
  EXPECT_EQ(bytes, "ab");
}

TEST(WireFormatTest, FixedWordsAreLittleEndian) {
  std::string bytes;
  AppendFixed64(0x0102030405060708, &bytes);
  EXPECT_EQ(bytes, "\x08\x07\x06\x05\x04\x03\x02\x01");
  uint64_t word = 0;
  EXPECT_TRUE(WireReader(bytes).Fixed64(&word));
  EXPECT_EQ(word, 0x0102030405060708u);
  EXPECT_FALSE(WireReader(std::string_view(bytes).substr(1)).Fixed64(&word));
}

}  // namespace
}  // namespace hearth::model
