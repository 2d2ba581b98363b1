#include "client/remote/service_account.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/testing/fake_clock.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::client {
namespace {

using nlohmann::json;

constexpr int64_t kStartSeconds = 1'800'000'000;

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;

std::string PemOf(EVP_PKEY* key) {
  const std::unique_ptr<BIO, FreeKey> bio(BIO_new(BIO_s_mem()));
  EXPECT_EQ(PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr),
            1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<size_t>(size));
}

// base64url without padding, as in tokens.
std::string DecodeUrl(std::string text) {
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  const size_t padding = (4 - text.size() % 4) % 4;
  text.append(padding, '=');
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  EXPECT_GE(size, 0) << text;
  bytes.resize(static_cast<size_t>(size) - padding);
  return bytes;
}

struct Token {
  std::string signed_part;
  json header;
  json claims;
  std::string signature;
};

Token Read(const std::string& text) {
  const size_t first = text.find('.');
  const size_t second = text.rfind('.');
  return {text.substr(0, second), json::parse(DecodeUrl(text.substr(0, first))),
          json::parse(DecodeUrl(text.substr(first + 1, second - first - 1))),
          DecodeUrl(text.substr(second + 1))};
}

bool IsSignedBy(const Token& token, EVP_PKEY* key) {
  const std::unique_ptr<EVP_MD_CTX, FreeKey> context(EVP_MD_CTX_new());
  EXPECT_EQ(EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key), 1);
  return EVP_DigestVerify(context.get(),
                          reinterpret_cast<const unsigned char*>(token.signature.data()),
                          token.signature.size(),
                          reinterpret_cast<const unsigned char*>(token.signed_part.data()),
                          token.signed_part.size()) == 1;
}

class ServiceAccountTest : public testing::Test {
 protected:
  json KeyFile() const {
    return {{"type", "service_account"},
            {"project_id", "my-project"},
            {"private_key_id", "key-1"},
            {"private_key", PemOf(key_.get())},
            {"client_email", "me@my-project.iam.gserviceaccount.com"}};
  }

  const Key key_{EVP_RSA_gen(2048)};
  FakeClock clock_{kStartSeconds * 1'000'000};
};

TEST_F(ServiceAccountTest, SignsWhoItIsForFirestore) {
  const auto account = ServiceAccount::Parse(KeyFile().dump(), clock_);
  ASSERT_TRUE(account.ok()) << account.status().ToString();
  EXPECT_EQ((*account)->project(), "my-project");
  const Result<std::string> text = (*account)->Token();
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  const Token token = Read(*text);
  EXPECT_TRUE(IsSignedBy(token, key_.get()));
  EXPECT_FALSE(IsSignedBy(token, Key(EVP_RSA_gen(2048)).get()));
  EXPECT_EQ(token.header, json({{"alg", "RS256"}, {"typ", "JWT"}, {"kid", "key-1"}}));
  EXPECT_EQ(token.claims, json({{"iss", "me@my-project.iam.gserviceaccount.com"},
                                {"sub", "me@my-project.iam.gserviceaccount.com"},
                                {"aud", "https://firestore.googleapis.com/"},
                                {"iat", kStartSeconds},
                                {"exp", kStartSeconds + 3'600}}));
}

TEST_F(ServiceAccountTest, KeepsATokenUntilShortlyBeforeItsEnd) {
  const auto account = ServiceAccount::Parse(KeyFile().dump(), clock_);
  ASSERT_TRUE(account.ok());
  const std::string first = *(*account)->Token();
  clock_.Advance(std::chrono::seconds(3'600 - 5 * 60 - 1));
  EXPECT_EQ(*(*account)->Token(), first);
  clock_.Advance(std::chrono::seconds(1));
  const std::string second = *(*account)->Token();
  EXPECT_NE(second, first);
  EXPECT_EQ(Read(second).claims["iat"], kStartSeconds + 3'300);
}

TEST_F(ServiceAccountTest, ATokenOfTheFutureIsNoGood) {
  const auto account = ServiceAccount::Parse(KeyFile().dump(), clock_);
  ASSERT_TRUE(account.ok());
  clock_.SetWall((kStartSeconds - 100) * 1'000'000);
  EXPECT_EQ(Read(*(*account)->Token()).claims["iat"], kStartSeconds - 100);
}

TEST_F(ServiceAccountTest, RefusesWhatIsNoKey) {
  std::vector<std::string> bad = {"", "[]", "{", "{}", "null", std::string(100'000, ' ')};
  for (const char* part : {"type", "project_id", "private_key_id", "private_key", "client_email"}) {
    json missing = KeyFile();
    missing.erase(part);
    bad.push_back(missing.dump());
    json wrong = KeyFile();
    wrong[part] = 7;
    bad.push_back(wrong.dump());
  }
  json other_type = KeyFile();
  other_type["type"] = "authorized_user";
  bad.push_back(other_type.dump());
  json no_pem = KeyFile();
  no_pem["private_key"] = "-----BEGIN PRIVATE KEY-----\nnothing\n-----END PRIVATE KEY-----\n";
  bad.push_back(no_pem.dump());
  for (const std::string& text : bad) {
    EXPECT_EQ(ServiceAccount::Parse(text, clock_).status().code(), Code::kInvalidArgument)
        << text.substr(0, 200);
  }
}

TEST_F(ServiceAccountTest, ReadsFiles) {
  const storage::TemporaryFolder folder;
  const std::string path = folder.path() + "/key.json";
  std::ofstream(path) << KeyFile().dump();
  EXPECT_TRUE(ServiceAccount::Load(path, clock_).ok());
  const Status missing = ServiceAccount::Load(folder.path() + "/none.json", clock_).status();
  EXPECT_EQ(missing.code(), Code::kInvalidArgument);
  EXPECT_NE(missing.message().find("none.json"), std::string::npos);
  EXPECT_EQ(ServiceAccount::Load(folder.path(), clock_).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace hearth::client
