#include "kit/outbound/address_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace hearth::kit {
namespace {

struct Ipv4Block {
  uint32_t address;
  unsigned bits;
};

constexpr uint32_t Ipv4(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

// IANA's special-purpose registry, and multicast.
constexpr Ipv4Block kSpecialIpv4[] = {
    {Ipv4(0, 0, 0, 0), 8},        // This network; 0.0.0.0 is this host.
    {Ipv4(10, 0, 0, 0), 8},       // Private.
    {Ipv4(100, 64, 0, 0), 10},    // Carrier-grade NAT.
    {Ipv4(127, 0, 0, 0), 8},      // Loopback.
    {Ipv4(169, 254, 0, 0), 16},   // Link-local; cloud metadata with credentials.
    {Ipv4(172, 16, 0, 0), 12},    // Private.
    {Ipv4(192, 0, 0, 0), 24},     // Protocol assignments.
    {Ipv4(192, 0, 2, 0), 24},     // Documentation.
    {Ipv4(192, 88, 99, 0), 24},   // 6to4 relays.
    {Ipv4(192, 168, 0, 0), 16},   // Private.
    {Ipv4(198, 18, 0, 0), 15},    // Benchmarks.
    {Ipv4(198, 51, 100, 0), 24},  // Documentation.
    {Ipv4(203, 0, 113, 0), 24},   // Documentation.
    {Ipv4(224, 0, 0, 0), 4},      // Multicast.
    {Ipv4(240, 0, 0, 0), 4},      // Reserved and broadcast.
};

struct Ipv6Block {
  std::array<uint8_t, 6> address;
  unsigned bits;
};

// Within 2000::/3; everything outside is special.
constexpr Ipv6Block kSpecialIpv6[] = {
    {{0x20, 0x01, 0x00}, 23},        // Protocol assignments, including Teredo.
    {{0x20, 0x01, 0x0d, 0xb8}, 32},  // Documentation.
    {{0x20, 0x02}, 16},              // 6to4: an IPv4 address behind a relay.
    {{0x3f, 0xfe}, 16},              // Formerly a test network.
    {{0x3f, 0xff}, 20},              // Documentation.
};

bool Matches(const std::array<uint8_t, 16>& address, const Ipv6Block& block) {
  for (unsigned bit = 0; bit < block.bits; ++bit) {
    const unsigned mask = 0x80u >> (bit % 8);
    if ((address[bit / 8] & mask) != (block.address[bit / 8] & mask)) return false;
  }
  return true;
}

uint32_t LastFourBytes(const std::array<uint8_t, 16>& address) {
  return Ipv4(address[12], address[13], address[14], address[15]);
}

}  // namespace

bool IsPublicIpv4(uint32_t address) {
  return std::ranges::none_of(kSpecialIpv4, [address](const Ipv4Block& block) {
    const uint32_t mask = ~uint32_t{0} << (32 - block.bits);
    return (address & mask) == block.address;
  });
}

bool IsPublicIpv6(const std::array<uint8_t, 16>& address) {
  static constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  static constexpr std::array<uint8_t, 12> kNat64 = {0, 0x64, 0xff, 0x9b};
  if (std::equal(kMapped.begin(), kMapped.end(), address.begin()) ||
      std::equal(kNat64.begin(), kNat64.end(), address.begin())) {
    return IsPublicIpv4(LastFourBytes(address));
  }
  if ((address[0] & 0xe0) != 0x20) return false;
  return std::ranges::none_of(
      kSpecialIpv6, [&address](const Ipv6Block& block) { return Matches(address, block); });
}

bool IsPublicAddress(const sockaddr& address, socklen_t bytes) {
  if (address.sa_family == AF_INET && bytes >= sizeof(sockaddr_in)) {
    sockaddr_in ipv4;
    std::memcpy(&ipv4, &address, sizeof(ipv4));
    return IsPublicIpv4(ntohl(ipv4.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6 && bytes >= sizeof(sockaddr_in6)) {
    sockaddr_in6 ipv6;
    std::memcpy(&ipv6, &address, sizeof(ipv6));
    std::array<uint8_t, 16> raw;
    std::memcpy(raw.data(), &ipv6.sin6_addr, raw.size());
    return IsPublicIpv6(raw);
  }
  return false;
}

}  // namespace hearth::kit
