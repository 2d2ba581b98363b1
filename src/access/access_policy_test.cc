#include "access/access_policy.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace hearth::access {
namespace {

constexpr char kToken[] = "0123456789abcdef";

http::RequestHead HeadWith(std::initializer_list<const char*> authorizations) {
  http::RequestHead head;
  for (const char* value : authorizations) head.AddHeader("Authorization", value);
  return head;
}

model::DatabaseName Database(const std::string& project, const std::string& id = "(default)") {
  return *model::DatabaseName::Parse("projects/" + project + "/databases/" + id);
}

TEST(AccessPolicyTest, TheTokenMakesAnAdministrator) {
  const AccessPolicy policy(kToken, {});
  EXPECT_TRUE(policy.CheckAdministrator(HeadWith({"Bearer 0123456789abcdef"})).ok());
  EXPECT_TRUE(policy.CheckAdministrator(HeadWith({"bearer  0123456789abcdef "})).ok());
  EXPECT_TRUE(
      policy.CheckAdministrator(HeadWith({"Bearer owner", "Bearer 0123456789abcdef"})).ok());
}

TEST(AccessPolicyTest, NothingElseDoes) {
  const AccessPolicy policy(kToken, {});
  EXPECT_FALSE(policy.CheckAdministrator(HeadWith({})).ok());
  for (const char* value :
       {"", "Bearer", "Bearer ", "Bearer owner", "0123456789abcdef", "Basic 0123456789abcdef",
        "Bearer 0123456789abcde", "Bearer 0123456789abcdeg", "Bearer 1123456789abcdef",
        "Bearer 0123456789abcdef0", "Bearer 0123456789ABCDEF", "Bearer\t0123456789abcdef",
        "Bearer 0123456789abcdef, Bearer x"}) {
    const Status status = policy.CheckAdministrator(HeadWith({value}));
    EXPECT_EQ(status.code(), Code::kPermissionDenied) << value;
    EXPECT_NE(status.message().find("admin.token"), std::string::npos);
  }
}

TEST(AccessPolicyTest, ProtectsAllDatabasesOfAProject) {
  const AccessPolicy policy(kToken, {"apps", "books"});
  for (const model::DatabaseName& database :
       {Database("apps"), Database("apps", "other"), Database("books")}) {
    const Status status = policy.CheckDatabase(HeadWith({"Bearer owner"}), database);
    EXPECT_EQ(status.code(), Code::kPermissionDenied);
    EXPECT_NE(status.message().find("Authorization: Bearer TOKEN"), std::string::npos);
    EXPECT_TRUE(policy.CheckDatabase(HeadWith({"Bearer 0123456789abcdef"}), database).ok());
  }
  for (const char* project : {"app", "apps2", "demo"}) {
    EXPECT_TRUE(policy.CheckDatabase(HeadWith({}), Database(project)).ok()) << project;
  }
}

}  // namespace
}  // namespace hearth::access
