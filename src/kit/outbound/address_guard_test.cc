#include "kit/outbound/address_guard.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <string>

namespace hearth::kit {
namespace {

bool IsPublic(const std::string& text) {
  sockaddr_in ipv4 = {};
  ipv4.sin_family = AF_INET;
  if (inet_pton(AF_INET, text.c_str(), &ipv4.sin_addr) == 1) {
    return IsPublicAddress(reinterpret_cast<const sockaddr&>(ipv4), sizeof(ipv4));
  }
  sockaddr_in6 ipv6 = {};
  ipv6.sin6_family = AF_INET6;
  EXPECT_EQ(inet_pton(AF_INET6, text.c_str(), &ipv6.sin6_addr), 1) << text;
  return IsPublicAddress(reinterpret_cast<const sockaddr&>(ipv6), sizeof(ipv6));
}

TEST(AddressGuardTest, PublicAddresses) {
  for (const char* address : {
           "1.1.1.1",
           "8.8.8.8",
           "9.255.255.255",
           "11.0.0.0",
           "100.63.255.255",
           "100.128.0.0",
           "126.255.255.255",
           "128.0.0.0",
           "169.253.255.255",
           "169.255.0.0",
           "172.15.255.255",
           "172.32.0.0",
           "192.0.1.0",
           "192.0.3.0",
           "192.167.255.255",
           "192.169.0.0",
           "198.17.255.255",
           "198.20.0.0",
           "198.51.99.255",
           "198.51.101.0",
           "203.0.112.255",
           "203.0.114.0",
           "223.255.255.255",
           "2001:4860:4860::8888",
           "2606:4700:4700::1111",
           "2a00:1450::1",
           "2001:200::1",
           "3ffd::1",
           "::ffff:8.8.8.8",    // Mapped.
           "64:ff9b::8.8.8.8",  // Via NAT64.
       }) {
    EXPECT_TRUE(IsPublic(address)) << address;
  }
}

TEST(AddressGuardTest, SpecialAddresses) {
  for (const char* address : {
           // IPv4, both ends of each block.
           "0.0.0.0",
           "0.255.255.255",
           "10.0.0.0",
           "10.255.255.255",
           "100.64.0.0",
           "100.127.255.255",
           "127.0.0.1",
           "127.255.255.255",
           "169.254.0.0",
           "169.254.169.254",
           "169.254.255.255",
           "172.16.0.0",
           "172.31.255.255",
           "192.0.0.0",
           "192.0.0.255",
           "192.0.2.1",
           "192.88.99.1",
           "192.168.0.0",
           "192.168.255.255",
           "198.18.0.0",
           "198.19.255.255",
           "198.51.100.1",
           "203.0.113.1",
           "224.0.0.1",
           "239.255.255.255",
           "240.0.0.1",
           "255.255.255.255",
           // IPv6.
           "::",
           "::1",
           "fe80::1",
           "febf::1",
           "fec0::1",
           "fc00::1",
           "fd12:3456::1",
           "ff02::1",
           "ff0e::1",
           "100::1",
           "2001::1",
           "2001:0:53aa:64c::1",
           "2001:10::1",
           "2001:1ff::1",
           "2001:db8::1",
           "2002:0808:0808::1",
           "2002:7f00:1::",
           "3ffe::1",
           "3fff::1",
           "5f00::1",
           "4000::1",
           "1fff::1",
           // IPv4 embedded in IPv6.
           "::ffff:127.0.0.1",
           "::ffff:10.0.0.1",
           "::ffff:169.254.169.254",
           "::ffff:0.0.0.0",
           "::127.0.0.1",
           "::8.8.8.8",
           "::ffff:0:8.8.8.8",
           "64:ff9b::127.0.0.1",
           "64:ff9b::10.0.0.1",
           "64:ff9b::169.254.169.254",
           "64:ff9b:1::8.8.8.8",
       }) {
    EXPECT_FALSE(IsPublic(address)) << address;
  }
}

TEST(AddressGuardTest, OtherFamiliesAndCutOffAddressesAreNotPublic) {
  sockaddr_un local = {};
  local.sun_family = AF_UNIX;
  EXPECT_FALSE(IsPublicAddress(reinterpret_cast<const sockaddr&>(local), sizeof(local)));
  sockaddr_in ipv4 = {};
  ipv4.sin_family = AF_INET;
  ipv4.sin_addr.s_addr = htonl(0x08080808);
  EXPECT_TRUE(IsPublicAddress(reinterpret_cast<const sockaddr&>(ipv4), sizeof(ipv4)));
  EXPECT_FALSE(IsPublicAddress(reinterpret_cast<const sockaddr&>(ipv4), 4));
}

}  // namespace
}  // namespace hearth::kit
