#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>

namespace hearth::kit {

// Whether an address is on the public internet. False for loopback, private, link-local, multicast,
// documentation and other special-purpose addresses, and for those embedded in IPv6 addresses.
// Unknown families are not public.
bool IsPublicAddress(const sockaddr& address, socklen_t bytes);

bool IsPublicIpv4(uint32_t address);  // The first byte is the most significant.
bool IsPublicIpv6(const std::array<uint8_t, 16>& address);

}  // namespace hearth::kit
