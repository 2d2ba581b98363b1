#include "kit/web/session.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/testing/fake_clock.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::kit {
namespace {

constexpr int64_t kNow = 1'800'000'000'000'000;
constexpr std::chrono::seconds kHour{3'600};

class SessionTest : public testing::Test {
 protected:
  FakeClock clock_{kNow};
  SessionSigner signer_ = *SessionSigner::Make(std::string(32, 's'), clock_);
};

TEST_F(SessionTest, WhatIsSignedComesBack) {
  const std::string token = signer_.Sign({{"sub", "jürgen"}, {"n", 1}}, kHour);
  const Result<nlohmann::json> claims = signer_.Verify(token);
  ASSERT_TRUE(claims.ok()) << claims.status().message();
  EXPECT_EQ((*claims)["sub"], "jürgen");
  EXPECT_EQ((*claims)["iat"], kNow / 1'000'000);
  EXPECT_EQ((*claims)["exp"], kNow / 1'000'000 + 3'600);
}

TEST_F(SessionTest, ExpiresToTheSecond) {
  const std::string token = signer_.Sign({{"sub", "a"}}, kHour);
  clock_.Advance(kHour - std::chrono::seconds(1));
  EXPECT_TRUE(signer_.Verify(token).ok());
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(signer_.Verify(token).status().code(), Code::kUnauthenticated);
}

TEST_F(SessionTest, RefusesWhatIsNotOurs) {
  const std::string token = signer_.Sign({{"sub", "a"}}, kHour);
  const SessionSigner other = *SessionSigner::Make(std::string(32, 'o'), clock_);
  EXPECT_EQ(other.Verify(token).status().code(), Code::kUnauthenticated);
  std::string changed = token;
  changed[changed.size() / 2] = changed[changed.size() / 2] == 'A' ? 'B' : 'A';
  EXPECT_EQ(signer_.Verify(changed).status().code(), Code::kUnauthenticated);
  const std::string long_one(100'000, 'a');
  for (const std::string& bad :
       {std::string(), std::string("a.b.c"), std::string("..."), token + ".x",
        token.substr(0, token.rfind('.') + 1), long_one, std::string("\0\xff", 2)}) {
    EXPECT_EQ(signer_.Verify(bad).status().code(), Code::kUnauthenticated) << bad.substr(0, 20);
  }
}

TEST_F(SessionTest, RefusesTokensThatNeedNoSecret) {
  // {"alg":"none","typ":"JWT"} . {"sub":"a","exp":9999999999} . no signature
  const std::string head = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0";
  const std::string claims = "eyJzdWIiOiJhIiwiZXhwIjo5OTk5OTk5OTk5fQ";
  for (const std::string& token : {head + "." + claims + ".", head + "." + claims}) {
    EXPECT_EQ(signer_.Verify(token).status().code(), Code::kUnauthenticated) << token;
  }
}

TEST_F(SessionTest, AShortSecretIsRefused) {
  EXPECT_EQ(SessionSigner::Make(std::string(31, 's'), clock_).status().code(),
            Code::kInvalidArgument);
}

TEST(SecretTest, IsMadeOnceForItsOwnerOnly) {
  const storage::TemporaryFolder folder;
  const std::string path = folder / "made/session.key";
  const Result<std::string> first = LoadOrMakeSecret(path);
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(first->size(), 32u);
  EXPECT_EQ(*LoadOrMakeSecret(path), *first);
  EXPECT_NE(*LoadOrMakeSecret(folder / "other.key"), *first);
  struct stat status;
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  // No other files are left.
  const std::filesystem::directory_iterator files(std::filesystem::path(path).parent_path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(SecretTest, AFileThatIsTooShortIsAnError) {
  const storage::TemporaryFolder folder;
  std::ofstream(folder / "key") << "short";
  EXPECT_EQ(LoadOrMakeSecret(folder / "key").status().code(), Code::kDataLoss);
}

TEST(PasswordTest, OnlyTheRightOneFits) {
  const Result<std::string> hash = HashPassword("correct horse", nullptr);
  ASSERT_TRUE(hash.ok());
  EXPECT_TRUE(hash->starts_with("$argon2id$")) << *hash;
  EXPECT_TRUE(*CheckPassword("correct horse", *hash, nullptr));
  EXPECT_FALSE(*CheckPassword("correct horsf", *hash, nullptr));
  EXPECT_FALSE(*CheckPassword("", *hash, nullptr));
  EXPECT_NE(*HashPassword("correct horse", nullptr), *hash);
}

TEST(PasswordTest, HashingTakesMemoryFromTheBudget) {
  MemoryBudget memory(2 * kPasswordBytes);
  const Result<std::string> hash = HashPassword("correct horse", &memory);
  ASSERT_TRUE(hash.ok()) << hash.status().ToString();
  EXPECT_EQ(memory.used_bytes(), 0u);
  memory.Take(kPasswordBytes);  // Other clients hold so much that the rest does not suffice.
  EXPECT_EQ(HashPassword("correct horse", &memory).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(CheckPassword("correct horse", *hash, &memory).status().code(),
            Code::kResourceExhausted);
  memory.Return(kPasswordBytes);
  EXPECT_TRUE(*CheckPassword("correct horse", *hash, &memory));
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST(PasswordTest, HashesWaitForTheMemoryOfOthers) {
  MemoryBudget memory(kPasswordBytes / 7 * 8 + 64);  // For one at a time.
  std::vector<std::thread> threads;
  for (int i = 0; i < 2 * kPasswordsAtOnce; ++i) {
    threads.emplace_back([&] {
      const Status hashed = HashPassword("correct horse", &memory).status();
      EXPECT_TRUE(hashed.ok()) << hashed.ToString();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST(SecretTest, OnlyTheSameIsTheSame) {
  EXPECT_TRUE(IsSameSecret("open sesame", "open sesame"));
  EXPECT_TRUE(IsSameSecret("", ""));
  EXPECT_FALSE(IsSameSecret("open sesame", "open sesamf"));
  EXPECT_FALSE(IsSameSecret("open sesame", "open sesame "));
  EXPECT_FALSE(IsSameSecret("", "o"));
}

TEST(PasswordTest, NoHashFitsNothing) {
  EXPECT_FALSE(*CheckPassword("a", "", nullptr));
  EXPECT_FALSE(*CheckPassword("a", "a", nullptr));
  EXPECT_FALSE(*CheckPassword("a", std::string(1'000, '$'), nullptr));
}

}  // namespace
}  // namespace hearth::kit
