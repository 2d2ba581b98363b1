#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>

namespace hearth::kit {

// Whether an address belongs to somebody on the public internet: not to this machine, a private
// network, a link, a group, documentation or any other special purpose, nor to one of those in the
// clothes of IPv6. What is unknown is not public.
bool IsPublicAddress(const sockaddr& address, socklen_t bytes);

bool IsPublicIpv4(uint32_t address);  // The first byte is the highest.
bool IsPublicIpv6(const std::array<uint8_t, 16>& address);

}  // namespace hearth::kit
