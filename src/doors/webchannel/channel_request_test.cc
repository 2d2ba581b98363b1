#include "doors/webchannel/channel_request.h"

#include <google/firestore/v1/firestore.pb.h>
#include <gtest/gtest.h>

#include "doors/webchannel/options.h"

namespace hearth::doors::webchannel {
namespace {

using google::firestore::v1::WriteRequest;

TEST(FormTest, DecodesNamesAndValues) {
  const std::optional<Form> form = Form::Parse("a=1&b%20c=%7B%22x%22%3a1%7D+y&&d&e=f=g&=h", 10);
  ASSERT_TRUE(form);
  EXPECT_EQ(form->Find("a"), "1");
  EXPECT_EQ(form->Find("b c"), "{\"x\":1} y");
  EXPECT_EQ(form->Find("d"), "");
  EXPECT_EQ(form->Find("e"), "f=g");
  EXPECT_EQ(form->Find(""), "h");
  EXPECT_EQ(form->Find("z"), std::nullopt);
  EXPECT_TRUE(Form::Parse("", 0)->fields().empty());
}

TEST(FormTest, RefusesWhatCannotBeDecoded) {
  for (const char* text : {"a=%", "a=%1", "a=%zz", "%g0=1", "a=1&b=%f"}) {
    EXPECT_FALSE(Form::Parse(text, 10)) << text;
  }
}

TEST(FormTest, BoundsTheFields) {
  EXPECT_TRUE(Form::Parse("a&b", 2));
  EXPECT_FALSE(Form::Parse("a&b&c", 2));
}

Result<ChannelQuery> Parse(std::string_view method, std::string_view query) {
  return ParseChannelQuery(method, *Form::Parse(query, kQueryFieldsMax));
}

TEST(ChannelQueryTest, KnowsTheFourKinds) {
  const auto handshake = Parse("POST", "VER=8&RID=77&CVER=22&X-HTTP-Session-Id=gsessionid&t=1");
  ASSERT_TRUE(handshake.ok());
  EXPECT_EQ(handshake->kind, RequestKind::kHandshake);
  EXPECT_TRUE(handshake->wants_session_header);
  EXPECT_EQ(Parse("POST", "VER=8&RID=77&SID=null")->kind, RequestKind::kHandshake);

  const auto forward = Parse("POST", "VER=8&SID=abc&RID=78&AID=5");
  ASSERT_TRUE(forward.ok());
  EXPECT_EQ(forward->kind, RequestKind::kForward);
  EXPECT_EQ(forward->session_id, "abc");
  EXPECT_EQ(forward->acknowledged, 5u);

  const auto back = Parse("GET", "VER=8&SID=abc&RID=rpc&AID=0&CI=0&TYPE=xmlhttp");
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->kind, RequestKind::kBack);
  EXPECT_EQ(back->mode, BackChannelMode::kStreaming);
  const auto poll = Parse("GET", "VER=8&SID=abc&RID=rpc&AID=0&CI=1&TO=5000&TYPE=xmlhttp");
  ASSERT_TRUE(poll.ok());
  EXPECT_EQ(poll->mode, BackChannelMode::kPolling);
  EXPECT_EQ(poll->poll_timeout, std::chrono::milliseconds(5'000));

  for (const char* method : {"GET", "POST"}) {
    EXPECT_EQ(Parse(method, "SID=abc&RID=79&TYPE=terminate")->kind, RequestKind::kTerminate);
  }
}

TEST(ChannelQueryTest, RefusesRubbish) {
  const std::pair<const char*, const char*> cases[] = {
      {"PUT", "VER=8&RID=1"},
      {"POST", ""},
      {"POST", "VER=8"},
      {"POST", "VER=9&RID=1"},
      {"POST", "VER=8&RID=x"},
      {"POST", "VER=8&RID=-1"},
      {"POST", "VER=8&RID=99999999999999999999999"},
      {"POST", "VER=8&RID=rpc&SID=a"},
      {"POST", "VER=8&RID=1&SID=a&AID=x"},
      {"GET", "VER=8&RID=1&SID=a"},
      {"GET", "VER=8&MODE=init"},
      {"GET", "VER=8&RID=rpc&SID=a&AID="},
      {"GET", "VER=8&RID=rpc&SID=a&AID=-1"},
      {"GET", "VER=8&RID=rpc&SID=a&CI=2"},
      {"GET", "VER=8&RID=rpc&SID=a&TYPE=html"},
      {"GET", "VER=8&RID=rpc&SID=a&CI=1&TO=soon"},
  };
  for (const auto& [method, query] : cases) {
    EXPECT_EQ(Parse(method, query).status().code(), Code::kInvalidArgument) << query;
  }
}

Result<std::vector<IncomingMap>> Maps(std::string_view body) {
  return ReadMaps(*Form::Parse(body, BodyFieldsMax()), *WriteRequest::descriptor());
}

TEST(ReadMapsTest, NumbersThemFromTheOffset) {
  const auto maps = Maps("headers=x&count=2&ofs=7&req1___data__=b&req0___data__=%7B%7D&other=1");
  ASSERT_TRUE(maps.ok());
  ASSERT_EQ(maps->size(), 2u);
  EXPECT_EQ((*maps)[0].index, 7u);
  EXPECT_EQ(*(*maps)[0].message, "");
  EXPECT_EQ((*maps)[1].index, 8u);
  EXPECT_EQ((*maps)[1].message.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Maps("count=0")->size(), 0u);
  EXPECT_EQ(Maps("")->size(), 0u);
}

TEST(ReadMapsTest, RefusesRubbish) {
  for (const char* body :
       {"count=1", "count=x", "count=-1", "count=2&req0___data__=a", "req0___data__=a",
        "count=1&ofs=x&req0___data__=a", "count=1&req0_type=_badmap", "count=1&reqx___data__=a",
        "count=1&req___data__=a", "count=1&req9999999999999999999999___data__=a",
        "count=2&req0___data__=a&req0___data__=b", "count=1001",
        "count=1&ofs=99999999999999999999&req0___data__=a"}) {
    EXPECT_EQ(Maps(body).status().code(), Code::kInvalidArgument) << body;
  }
}

TEST(ReadMapsTest, BoundsTheirNumber) {
  std::string body = "count=" + std::to_string(kMapsPerRequestMax) + "&ofs=0";
  for (size_t i = 0; i < kMapsPerRequestMax; ++i) body += "&req" + std::to_string(i) + "___data__=";
  EXPECT_EQ(Maps(body)->size(), kMapsPerRequestMax);
}

TEST(ReadMapsTest, BoundsTheMessages) {
  const auto with_text = [](size_t bytes) {
    return Maps("count=1&req0___data__={\"streamId\":\"" + std::string(bytes, 'x') + "\"}");
  };
  constexpr size_t kHeadBytes = 5;  // The field's tag and size.
  const auto longest = with_text(kMessageBytesMax - kHeadBytes);
  EXPECT_EQ((*longest)[0].message->size(), kMessageBytesMax);
  const auto longer = with_text(kMessageBytesMax - kHeadBytes + 1);
  EXPECT_EQ((*longer)[0].message.status(),
            InvalidArgument("Request payload size exceeds the limit: 10551296 bytes."));
}

TEST(ReadMapsTest, ClaimsTheMemoryOfMessages) {
  std::string writes = "{}";
  for (int i = 0; i < 100'000; ++i) writes += ",{}";
  const Form body =
      *Form::Parse("count=1&req0___data__={\"writes\":[" + writes + "]}", BodyFieldsMax());
  MemoryBudget memory(64 * 1024 * 1024);
  MemoryClaim claim(&memory);
  const auto maps = ReadMaps(body, *WriteRequest::descriptor(), &claim);
  ASSERT_TRUE((*maps)[0].message.ok());
  EXPECT_EQ(claim.bytes(), (*maps)[0].message->size());  // The objects are gone.
  // While they are there, they take a hundred bytes each.
  memory.Take(54 * 1024 * 1024);
  const auto refused = ReadMaps(body, *WriteRequest::descriptor(), &claim);
  EXPECT_EQ((*refused)[0].message.status().code(), Code::kResourceExhausted);
  memory.Return(54 * 1024 * 1024);
}

http::RequestHead Head(std::string_view query, std::string_view body) {
  http::RequestHead request;
  request.set_method("POST");
  request.set_authority("localhost:8080");
  request.AddHeader("Authorization", "Bearer http");
  request.AddHeader("User-Agent", "browser");
  return MakeCallHead(request, "/p.S/M", *Form::Parse(query, kQueryFieldsMax),
                      *Form::Parse(body, BodyFieldsMax()));
}

TEST(CallHeadTest, TheBodysFieldsComeFirst) {
  const http::RequestHead head =
      Head("database=projects%2Fp%2Fdatabases%2Fd&%24httpHeaders=X-B:2%0D%0A",
           "headers=Authorization:Bearer%20body%0D%0AX-A:%201%0D%0A");
  EXPECT_EQ(head.path(), "/p.S/M");
  EXPECT_EQ(head.authority(), "localhost:8080");
  EXPECT_EQ(head.Find("authorization"), "Bearer body");
  EXPECT_EQ(head.Find("x-a"), "1");
  EXPECT_EQ(head.Find("x-b"), "2");
  EXPECT_EQ(head.Find("user-agent"), "browser");
  EXPECT_EQ(head.Find("google-cloud-resource-prefix"), "projects/p/databases/d");
}

TEST(CallHeadTest, AFieldForTheDatabaseWins) {
  const http::RequestHead head = Head("database=q", "headers=Google-Cloud-Resource-Prefix:h%0A");
  EXPECT_EQ(head.Find("google-cloud-resource-prefix"), "h");
  EXPECT_EQ(head.Find("authorization"), "Bearer http");
}

TEST(CallHeadTest, PassesRubbishOver) {
  const http::RequestHead head =
      Head("database=a%0D%0Ab", "headers=nothing%0D%0A:x%0D%0Aa%20b:c%0D%0Ad:%01%0D%0A%0D%0Ae:f");
  EXPECT_EQ(head.Find("google-cloud-resource-prefix"), std::nullopt);
  EXPECT_EQ(head.Find("d"), std::nullopt);
  EXPECT_EQ(head.Find("e"), "f");
  const std::string long_block(kHeaderBlockBytesMax, 'x');
  EXPECT_EQ(Head("", "headers=a:" + long_block).Find("a"), std::nullopt);
}

}  // namespace
}  // namespace hearth::doors::webchannel
