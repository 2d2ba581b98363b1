#include "kit/jobs/sign_in_limits.h"

namespace hearth::kit {

SignInLimits::SignInLimits(const Clock& clock, size_t failures_per_address)
    : by_address_(clock, failures_per_address, kWindow, kKeysMax),
      by_pair_(clock, kNameFailuresMax, kWindow, kKeysMax),
      by_name_(clock, kAttackFailuresMax, kWindow, kKeysMax),
      by_device_(clock, kNameFailuresMax, kWindow, kKeysMax) {}

std::optional<std::chrono::milliseconds> SignInLimits::Begin(Client* client) {
  if (client->device) {
    const QuotaWindows::Outcome own = by_device_.Spend(*client->device);
    if (own.allowed) return std::nullopt;
    return own.until_reset;
  }
  const QuotaWindows::Outcome address = by_address_.Spend(client->address);
  if (!address.allowed) return address.until_reset;
  client->is_name_counted = by_name_.Spend(client->username).allowed;
  const QuotaWindows::Outcome pair = by_pair_.Spend(
      PairOf(*client), client->is_name_counted ? kNameFailuresMax : kGuardedFailuresMax);
  if (pair.allowed) return std::nullopt;
  by_address_.Refund(client->address);
  if (client->is_name_counted) by_name_.Refund(client->username);
  return pair.until_reset;
}

void SignInLimits::Succeed(const Client& client) {
  Cancel(client);  // Other counts stay: a guesser with an account must not clear them.
  if (client.device) {
    by_device_.Reset(*client.device);
  } else {
    by_pair_.Reset(PairOf(client));
  }
}

void SignInLimits::Cancel(const Client& client) {
  if (client.device) return by_device_.Refund(*client.device);
  by_address_.Refund(client.address);
  by_pair_.Refund(PairOf(client));
  if (client.is_name_counted) by_name_.Refund(client.username);
}

}  // namespace hearth::kit
