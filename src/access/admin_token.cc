#include "access/admin_token.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "access/open_file.h"
#include "access/owner_file.h"
#include "base/random.h"
#include "base/status_macros.h"

namespace hearth::access {
namespace {

constexpr size_t kTokenDigits = 2 * kAdminTokenBytes;
constexpr std::string_view kHexDigits = "0123456789abcdef";

Status Failed(const std::string& path, const std::string& why) {
  return Status(Code::kFailedPrecondition, "the administrator's token in " + path + ": " + why);
}

Status SystemError(const std::string& path) { return Failed(path, std::strerror(errno)); }

std::string NewToken() {
  std::string token;
  for (const char byte : SecureRandomBytes(kAdminTokenBytes)) {
    const auto number = static_cast<unsigned char>(byte);
    token += kHexDigits[number >> 4];
    token += kHexDigits[number & 15];
  }
  return token;
}

}  // namespace

Result<std::string> ReadAdminToken(const std::string& folder) {
  const std::string path = folder + "/" + kAdminTokenFile;
  const OpenFile file(path, O_RDONLY);
  if (!file.is_open()) {
    return errno == ENOENT ? Status(Code::kNotFound, "there is no " + path) : SystemError(path);
  }
  struct stat properties = {};
  if (fstat(file.get(), &properties) != 0) return SystemError(path);
  if ((properties.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Failed(path,
                  "other users may read it, so it is no secret: delete it, and the server "
                  "creates another one when it starts");
  }
  std::array<char, kTokenDigits + 2> text;  // A newline, and anything that should not be there.
  const ssize_t size = read(file.get(), text.data(), text.size());
  if (size < 0) return SystemError(path);
  std::string_view token(text.data(), static_cast<size_t>(size));
  if (token.ends_with('\n')) token.remove_suffix(1);
  const bool is_token = token.size() == kTokenDigits && std::ranges::all_of(token, [](char c) {
                          return kHexDigits.find(c) != std::string_view::npos;
                        });
  if (!is_token) {
    return Failed(path,
                  "this is not a token: delete the file, and the server creates another one "
                  "when it starts");
  }
  return std::string(token);
}

Result<std::string> LoadOrCreateAdminToken(const std::string& folder) {
  Result<std::string> token = ReadAdminToken(folder);
  if (token.ok() || token.status().code() != Code::kNotFound) return token;
  const std::string created = NewToken();
  const Status written = WriteOwnerFile(folder, kAdminTokenFile, created + "\n");
  if (!written.ok()) return written.While("writing the administrator's token");
  return created;
}

}  // namespace hearth::access
