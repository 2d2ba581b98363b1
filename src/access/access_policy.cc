#include "access/access_policy.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace hearth::access {
namespace {

// Both messages tell an owner what to do.
constexpr char kProtected[] =
    "' belong to applications and are protected. Send the header 'Authorization: Bearer TOKEN' "
    "with "
    "the token from the file admin.token in the server's data folder.";
constexpr char kAdministratorOnly[] =
    "Only the administrator may do this. Send the header 'Authorization: Bearer TOKEN' with the "
    "token from the file admin.token in the server's data folder. Commands of hearth read it there "
    "if --data names the folder, or from the variable HEARTH_ADMIN_TOKEN.";

// Takes the same time wherever the texts differ, so that a client cannot find the token digit by
// digit. Its length is not secret.
bool EqualsSecret(std::string_view secret, std::string_view text) {
  if (secret.size() != text.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < secret.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (secret[i] ^ text[i]));
  }
  // Otherwise the compiler might end the loop at the first difference.
  volatile unsigned char result = difference;
  return result == 0;
}

// The text after "Bearer "; empty for another scheme.
std::string_view BearerToken(std::string_view authorization) {
  const std::string_view scheme = TakeUntil(authorization, ' ');
  return EqualsIgnoringCase(scheme, "Bearer") ? Trim(authorization) : std::string_view();
}

}  // namespace

AccessPolicy::AccessPolicy(std::string admin_token, std::vector<std::string> protected_projects)
    : admin_token_(std::move(admin_token)), protected_projects_(std::move(protected_projects)) {
  CHECK(!admin_token_.empty());
}

bool AccessPolicy::IsAdministrator(const http::RequestHead& head) const {
  for (size_t i = 0; i < head.header_count(); ++i) {
    const http::Header header = head.header(i);
    if (header.name == "authorization" && EqualsSecret(admin_token_, BearerToken(header.value))) {
      return true;
    }
  }
  return false;
}

Status AccessPolicy::CheckDatabase(const http::RequestHead& head,
                                   const model::DatabaseName& database) const {
  const bool is_protected =
      std::ranges::find(protected_projects_, database.project()) != protected_projects_.end();
  if (!is_protected || IsAdministrator(head)) return Status();
  return Status(Code::kPermissionDenied,
                "The databases of the project '" + std::string(database.project()) + kProtected);
}

Status AccessPolicy::CheckAdministrator(const http::RequestHead& head) const {
  if (IsAdministrator(head)) return Status();
  return Status(Code::kPermissionDenied, kAdministratorOnly);
}

}  // namespace hearth::access
