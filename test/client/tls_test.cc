// Encrypted connections, to a third-party server.
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/check.h"
#include "client/remote/grpc_channel.h"
#include "storage/testing/temporary_folder.h"
#include "support/server_process.h"

namespace hearth::client {
namespace {

constexpr long kValidSeconds = 3'600;

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(FILE* file) const { std::fclose(file); }
};

// A self-signed certificate for 127.0.0.1.
void WriteCertificate(const std::string& key_path, const std::string& certificate_path) {
  const std::unique_ptr<EVP_PKEY, Free> key(EVP_RSA_gen(2048));
  const std::unique_ptr<X509, Free> certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kValidSeconds);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kValidSeconds);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  const auto* text = reinterpret_cast<const unsigned char*>("localhost");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  const std::unique_ptr<X509_EXTENSION, Free> address(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1"));
  X509_add_ext(certificate.get(), address.get(), -1);
  CHECK(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0);

  const std::unique_ptr<FILE, Free> key_file(std::fopen(key_path.c_str(), "w"));
  const std::unique_ptr<FILE, Free> certificate_file(std::fopen(certificate_path.c_str(), "w"));
  CHECK(PEM_write_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr));
  CHECK(PEM_write_X509(certificate_file.get(), certificate.get()));
}

class TlsTest : public testing::Test {
 protected:
  void SetUp() override {
    WriteCertificate(key_, certificate_);
    server_ = std::make_unique<support::ServerProcess>(
        HEARTH_NODE, std::vector<std::string>{HEARTH_TLS_SERVER, key_, certificate_});
    ASSERT_TRUE(server_->WaitUntilListening()) << server_->Stderr();
  }
  GrpcChannelOptions Options() const {
    GrpcChannelOptions options;
    options.server.address = "127.0.0.1:" + std::to_string(server_->port());
    options.server.encryption = Encryption::kTls;
    options.server.authorities_file = certificate_;
    options.timeout = std::chrono::seconds(20);
    return options;
  }

  const storage::TemporaryFolder folder_;
  const std::string key_ = folder_.path() + "/key.pem";
  const std::string certificate_ = folder_.path() + "/certificate.pem";
  std::unique_ptr<support::ServerProcess> server_;
};

TEST_F(TlsTest, CallsAreEncrypted) {
  GrpcChannel channel(Options());
  for (const std::string message : {"first", "second, on the same connection"}) {
    std::string answer;
    const GrpcOutcome outcome = channel.Call({"/service/Method", message}, [&](auto text) {
      answer = text;
      return true;
    });
    EXPECT_EQ(outcome.status.ToString(), "OK");
    EXPECT_EQ(answer, message);
  }
}

// Closing the connection must not end this process with SIGPIPE either.
TEST_F(TlsTest, AServerThatIsGoneIsUnavailable) {
  GrpcChannel channel(Options());
  const GrpcRequest request{"/service/Method", "message"};
  ASSERT_EQ(channel.Call(request, [](auto) { return true; }).status.ToString(), "OK");
  server_->Kill();
  EXPECT_EQ(channel.Call(request, [](auto) { return true; }).status.code(), Code::kUnavailable);
}

TEST_F(TlsTest, AServerThatNobodyVouchesForGetsNothing) {
  GrpcChannelOptions options = Options();
  options.server.authorities_file.clear();
  GrpcChannel channel(options);
  const GrpcOutcome outcome =
      channel.Call({"/service/Method", "secret"}, [](auto) { return true; });
  EXPECT_EQ(outcome.status.code(), Code::kUnavailable);
  EXPECT_NE(outcome.status.message().find("certificate"), std::string::npos)
      << outcome.status.ToString();
  EXPECT_FALSE(outcome.was_sent);
}

}  // namespace
}  // namespace hearth::client
