#include "apps/feed/redis/redis_slots.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "base/status_macros.h"

namespace hearth::feed {
namespace {

constexpr size_t kMastersMax = 1'000;  // The recommended maximum for a cluster.

// CRC-16/XMODEM: polynomial 0x1021, initial value 0.
constexpr std::array<uint16_t, 256> MakeCrcTable() {
  std::array<uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc & 0x8000) != 0 ? 0x1021 : 0);
    table[byte] = static_cast<uint16_t>(crc);
  }
  return table;
}

constexpr std::array<uint16_t, 256> kCrcTable = MakeCrcTable();

uint16_t Crc16(std::string_view text) {
  unsigned crc = 0;
  for (const char byte : text) {
    crc = (crc << 8) ^ kCrcTable[((crc >> 8) ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return static_cast<uint16_t>(crc);
}

bool IsKnownHost(std::string_view host) { return !host.empty() && host != "?"; }

Status BadSlots() { return Status(Code::kUnavailable, "Redis: CLUSTER SLOTS is not understood"); }

// One row: first slot, last slot, master, replicas...
Status AddRange(const RedisReply& row, const RedisAddress& asked, RedisSlotMap* map) {
  if (row.elements.size() < 3 || row.elements[2].elements.size() < 2) return BadSlots();
  const int64_t first = row.elements[0].integer;
  const int64_t last = row.elements[1].integer;
  const RedisReply& master = row.elements[2];
  const int64_t port = master.elements[1].integer;
  if (first < 0 || last < first || last >= static_cast<int64_t>(kRedisSlots)) return BadSlots();
  if (port < 1 || port > UINT16_MAX) return BadSlots();
  const std::string& host = master.elements[0].text;
  const RedisAddress address{IsKnownHost(host) ? host : asked.host, static_cast<uint16_t>(port)};
  const auto known = std::find(map->masters.begin(), map->masters.end(), address);
  const auto index = static_cast<int16_t>(known - map->masters.begin());
  if (known == map->masters.end()) {
    if (map->masters.size() == kMastersMax) return BadSlots();
    map->masters.push_back(address);
  }
  std::fill(map->master_of.begin() + first, map->master_of.begin() + last + 1, index);
  return Status();
}

}  // namespace

size_t RedisSlotOf(std::string_view key) {
  const size_t open = key.find('{');
  if (open != std::string_view::npos) {
    const size_t close = key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1) {
      key = key.substr(open + 1, close - open - 1);
    }
  }
  return Crc16(key) % kRedisSlots;
}

Result<RedisSlotMap> ParseClusterSlots(const RedisReply& reply, const RedisAddress& asked) {
  RedisSlotMap map;
  map.master_of.fill(-1);
  if (!reply.IsArray()) return BadSlots();
  for (const RedisReply& row : reply.elements) RETURN_IF_ERROR(AddRange(row, asked, &map));
  return map;
}

Result<RedisRedirect> ParseRedirect(std::string_view error, const RedisAddress& asked) {
  const Status bad(Code::kUnavailable, "Redis: not understood: " + std::string(error));
  const size_t first = error.find(' ');
  const size_t second = error.find(' ', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return bad;
  const std::string_view number = error.substr(first + 1, second - first - 1);
  size_t slot = 0;
  const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), slot);
  if (failure != std::errc() || end != number.data() + number.size() || slot >= kRedisSlots) {
    return bad;
  }
  const std::string_view place = error.substr(second + 1);
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return bad;
  const std::string_view host = place.substr(0, colon);
  const Result<RedisAddress> address = ParseRedisAddress(
      (IsKnownHost(host) ? std::string(host) : asked.host) + std::string(place.substr(colon)));
  if (!address.ok()) return bad;
  return RedisRedirect{slot, *address};
}

}  // namespace hearth::feed
