#include "kit/web/session.h"

#include <fcntl.h>
#include <jwt.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/check.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "kit/web/json_fields.h"

namespace hearth::kit {
namespace {

constexpr size_t kSecretBytes = 32;
// Longer tokens are rejected; ours are a few hundred bytes.
constexpr size_t kTokenBytesMax = 8 * 1024;
constexpr int64_t kMicrosPerSecond = 1'000'000;

struct FreeJwt {
  void operator()(jwt_t* token) const { jwt_free(token); }
};
struct FreeText {
  void operator()(char* text) const { std::free(text); }
};
using JwtPointer = std::unique_ptr<jwt_t, FreeJwt>;
using TextPointer = std::unique_ptr<char, FreeText>;

const unsigned char* Bytes(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Status NotASession(const char* why) {
  return Status(Code::kUnauthenticated, std::string("not a valid session: ") + why);
}

Status FileError(const std::string& path, const char* doing) {
  return Status(Code::kUnavailable, std::string(doing) + " " + path + ": " + std::strerror(errno));
}

// Writes `content` to `path` atomically, readable by its owner only. False if it exists already.
Result<bool> WriteNew(const std::string& path, const std::string& content) {
  const std::string draft = path + "." + std::to_string(getpid());
  const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return FileError(draft, "cannot write");
  const bool written =
      write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()) &&
      fsync(file) == 0;
  const Status failure = written ? Status() : FileError(draft, "cannot write");
  close(file);
  // Unlike rename, link does not replace a file that another process has created meanwhile.
  const bool linked = written && link(draft.c_str(), path.c_str()) == 0;
  const bool exists = written && !linked && errno == EEXIST;
  const Status unlinked = linked || exists ? Status() : FileError(path, "cannot make");
  unlink(draft.c_str());
  RETURN_IF_ERROR(failure);
  RETURN_IF_ERROR(unlinked);
  return linked;
}

Result<std::string> ReadSecret(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) return FileError(path, "cannot read");
  if (content.view().size() < kSecretBytes) {
    return Status(Code::kDataLoss, path + " is too short: a secret needs " +
                                       std::to_string(kSecretBytes) + " bytes");
  }
  return content.str();
}

}  // namespace

Result<SessionSigner> SessionSigner::Make(const std::string& secret, const Clock& clock) {
  if (secret.size() < kSecretBytes) {
    return InvalidArgument("the session secret needs at least " + std::to_string(kSecretBytes) +
                           " bytes");
  }
  return SessionSigner(secret, clock);
}

std::string SessionSigner::Sign(const nlohmann::json& claims, std::chrono::seconds lifetime) const {
  CHECK(claims.is_object());
  const int64_t now_s = clock_.WallMicros() / kMicrosPerSecond;
  nlohmann::json all = claims;
  all["iat"] = now_s;
  all["exp"] = now_s + lifetime.count();
  jwt_t* made = nullptr;
  CHECK(jwt_new(&made) == 0);
  const JwtPointer token(made);
  CHECK(jwt_add_grants_json(made, all.dump().c_str()) == 0);
  CHECK(jwt_set_alg(made, JWT_ALG_HS256, Bytes(secret_), static_cast<int>(secret_.size())) == 0);
  const TextPointer text(jwt_encode_str(made));
  CHECK(text != nullptr);
  return text.get();
}

Result<nlohmann::json> SessionSigner::Verify(std::string_view token) const {
  if (token.size() > kTokenBytesMax) return NotASession("it is too long");
  jwt_t* read = nullptr;
  const int failure = jwt_decode(&read, std::string(token).c_str(), Bytes(secret_),
                                 static_cast<int>(secret_.size()));
  if (failure != 0 || read == nullptr) return NotASession("malformed, or signed with another key");
  const JwtPointer owned(read);
  // The token names its own algorithm: "none" would need no secret at all.
  if (jwt_get_alg(read) != JWT_ALG_HS256) return NotASession("signed with another algorithm");
  const TextPointer text(jwt_get_grants_json(read, nullptr));
  if (text == nullptr) return NotASession("without claims");
  ASSIGN_OR_RETURN(nlohmann::json claims, ParseJson(text.get()));
  const auto expiry = claims.find("exp");
  if (expiry == claims.end() || !expiry->is_number_integer()) return NotASession("without expiry");
  if (expiry->get<int64_t>() <= clock_.WallMicros() / kMicrosPerSecond) {
    return NotASession("it has expired");
  }
  return claims;
}

Result<std::string> LoadOrMakeSecret(const std::string& path) {
  if (sodium_init() < 0) return Status(Code::kInternal, "libsodium cannot be initialized");
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, error);
    std::string secret(kSecretBytes, '\0');
    randombytes_buf(secret.data(), secret.size());
    ASSIGN_OR_RETURN(const bool is_ours, WriteNew(path, secret));
    if (is_ours) return secret;
  }
  return ReadSecret(path);
}

namespace {

static_assert(kPasswordBytes == crypto_pwhash_MEMLIMIT_INTERACTIVE);

// Bounds the passwords that are hashed at the same time.
//
// Threads: safe for concurrent use.
class PasswordPlaces {
 public:
  // Takes a place and its memory, if need be after others have returned theirs. ResourceExhausted
  // if nobody has any to return: what other clients hold may be held for long.
  Status Take(MemoryClaim* claim) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    while (taken_ == kPasswordsAtOnce || !claim->Resize(kPasswordBytes)) {
      if (taken_ == 0) {
        return Status(Code::kResourceExhausted, "not enough memory to hash a password");
      }
      returned_.Wait(mutex_);
    }
    ++taken_;
    return Status();
  }
  void Return(MemoryClaim* claim) EXCLUDES_LOCK(mutex_) {
    {
      MutexLock lock(mutex_);
      claim->Reset();
      --taken_;
    }
    returned_.NotifyAll();
  }

 private:
  Mutex mutex_;  // Leaf lock.
  CondVar returned_;
  int taken_ GUARDED_BY(mutex_) = 0;
};

PasswordPlaces& AllPasswordPlaces() {
  static PasswordPlaces places;
  return places;
}

// Runs `hash` in a place of its own.
template <typename Hash>
auto InPasswordPlace(MemoryBudget* memory, const Hash& hash) -> decltype(hash()) {
  if (sodium_init() < 0) return Status(Code::kInternal, "libsodium cannot be initialized");
  struct Place {
    MemoryClaim claim;
    bool is_taken = false;

    ~Place() {
      if (is_taken) AllPasswordPlaces().Return(&claim);
    }
  } place = {.claim = MemoryClaim(memory)};
  RETURN_IF_ERROR(AllPasswordPlaces().Take(&place.claim));
  place.is_taken = true;
  return hash();
}

}  // namespace

Result<std::string> HashPassword(std::string_view password, MemoryBudget* memory) {
  return InPasswordPlace(memory, [&]() -> Result<std::string> {
    std::string hash(crypto_pwhash_STRBYTES, '\0');
    if (crypto_pwhash_str_alg(
            hash.data(), password.data(), password.size(), crypto_pwhash_OPSLIMIT_INTERACTIVE,
            crypto_pwhash_MEMLIMIT_INTERACTIVE, crypto_pwhash_ALG_ARGON2ID13) != 0) {
      return Status(Code::kResourceExhausted, "not enough memory to hash a password");
    }
    hash.resize(std::strlen(hash.c_str()));
    return hash;
  });
}

Result<bool> CheckPassword(std::string_view password, const std::string& hash,
                           MemoryBudget* memory) {
  if (hash.size() >= crypto_pwhash_STRBYTES) return false;
  return InPasswordPlace(memory, [&]() -> Result<bool> {
    return crypto_pwhash_str_verify(hash.c_str(), password.data(), password.size()) == 0;
  });
}

bool IsSameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace hearth::kit
