#include "kit/web/multipart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hearth::kit {
namespace {

using testing::HasSubstr;

constexpr std::string_view kType = "multipart/form-data; boundary=xyz";

std::string Part(const std::string& disposition, const std::string& content) {
  return "--xyz\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + content + "\r\n";
}

// The only part of a form.
FormPart Only(const std::string& body, std::string_view type = kType) {
  const Result<std::vector<FormPart>> parts = ParseMultipart(type, body, 10);
  EXPECT_TRUE(parts.ok()) << parts.status().ToString();
  if (!parts.ok() || parts->size() != 1) {
    ADD_FAILURE() << "not one part";
    return {};
  }
  return parts->front();
}

Status Refused(const std::string& body, std::string_view type = kType) {
  return ParseMultipart(type, body, 10).status();
}

TEST(MultipartTest, FieldsAndFiles) {
  const std::string body = Part("name=\"caption\"", "two\r\nlines") +
                           "--xyz\r\ncontent-disposition: form-data; name=\"images\"; "
                           "filename=\"a.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n\x01\r\n\x02\r\n"
                           "--xyz--\r\n";
  const Result<std::vector<FormPart>> parts = ParseMultipart(kType, body, 2);
  ASSERT_TRUE(parts.ok()) << parts.status().ToString();
  ASSERT_EQ(parts->size(), 2u);
  EXPECT_EQ((*parts)[0].name, "caption");
  EXPECT_EQ((*parts)[0].file_name, "");
  EXPECT_EQ((*parts)[0].content_type, "");
  EXPECT_EQ((*parts)[0].content, "two\r\nlines");
  EXPECT_EQ((*parts)[1].name, "images");
  EXPECT_EQ((*parts)[1].file_name, "a.jpg");
  EXPECT_EQ((*parts)[1].content_type, "image/jpeg");
  EXPECT_EQ((*parts)[1].content, "\x01\r\n\x02");
}

TEST(MultipartTest, TheHeaderIsReadAsClientsWriteIt) {
  const std::string body = Part("name=a", "v") + "--xyz--";
  for (const std::string_view type :
       {"multipart/form-data; boundary=\"xyz\"", "Multipart/Form-Data;BOUNDARY=xyz",
        "multipart/form-data; charset=utf-8; boundary = xyz ;"}) {
    EXPECT_EQ(Only(body, type).content, "v") << type;
  }
  const std::string quoted =
      "--a b:c;d\r\nContent-Disposition: form-data; name=a\r\n\r\nv\r\n"
      "--a b:c;d--\r\n";
  EXPECT_EQ(Only(quoted, "multipart/form-data; boundary=\"a b:c;d\"").content, "v");
}

TEST(MultipartTest, WhatStandsBeforeAndBehindIsSkipped) {
  EXPECT_EQ(Only("a preamble\r\nof two lines\r\n" + Part("name=a", "v") + "--xyz--\r\nan epilogue")
                .content,
            "v");
  EXPECT_EQ(Only("\r\n" + Part("name=a", "v") + "--xyz--").content, "v");
  EXPECT_EQ(Only("--xyzebra\r\n" + Part("name=a", "v") + "--xyz--").content, "v");
  // Blanks may follow a boundary.
  EXPECT_EQ(Only("--xyz \t\r\nContent-Disposition: form-data; name=a\r\n\r\nv\r\n--xyz--").content,
            "v");
}

TEST(MultipartTest, ContentMayLookLikeABoundary) {
  for (const std::string content : {"--xyz", "\r\n--xy", "\r\n--xyzebra\r\n", "\n--xyz\n",
                                    "\r\n--xyz", "\r\n--xyz-", "--xyz--", "", "\r\n", "--"}) {
    const std::string body = Part("name=a", content + ".") + "--xyz--\r\n";
    EXPECT_EQ(Only(body).content, content + ".") << content;
  }
  EXPECT_EQ(Only(Part("name=a", "") + "--xyz--").content, "");
}

TEST(MultipartTest, NamesMayHoldQuotesAndAnyLanguage) {
  const auto file_name = [](const std::string& written) {
    return Only(Part("name=\"a\"; filename=" + written, "") + "--xyz--").file_name;
  };
  EXPECT_EQ(file_name("\"a \\\"b\\\" c.jpg\""), "a \"b\" c.jpg");
  EXPECT_EQ(file_name("\"a;b=c.jpg\""), "a;b=c.jpg");
  EXPECT_EQ(file_name("\"C:\\photos\\a.jpg\""), "C:\\photos\\a.jpg");
  EXPECT_EQ(file_name("\"Übermut 写真 🌊.png\""), "Übermut 写真 🌊.png");
  EXPECT_EQ(file_name("plain.jpg"), "plain.jpg");
  EXPECT_EQ(file_name("\"\""), "");
}

TEST(MultipartTest, AFormWithoutPartsIsEmpty) {
  EXPECT_EQ(ParseMultipart(kType, "--xyz--\r\n", 0)->size(), 0u);
}

TEST(MultipartTest, MorePartsThanAllowedAreRefused) {
  const std::string two = Part("name=a", "") + Part("name=b", "") + "--xyz--";
  EXPECT_TRUE(ParseMultipart(kType, two, 2).ok());
  const Status refused = ParseMultipart(kType, two, 1).status();
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("more than 1 parts"));
}

TEST(MultipartTest, AFormThatIsCutOffIsRefusedWhereverItEnds) {
  const std::string body =
      "--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nv\r\n--xyz--";
  ASSERT_EQ(Only(body).content, "v");
  for (size_t size = 0; size < body.size(); ++size) {
    EXPECT_EQ(Refused(body.substr(0, size)).code(), Code::kInvalidArgument) << size;
  }
}

TEST(MultipartTest, OtherTypesAndBoundariesAreRefused) {
  const std::string body = Part("name=a", "v") + "--xyz--";
  for (const std::string_view type :
       {"", "application/json", "multipart/mixed; boundary=xyz", "multipart/form-data",
        "multipart/form-data; boundary=", "multipart/form-data; boundary=\"xyz",
        "multipart/form-data; boundary", "multipart/form-data boundary=xyz"}) {
    EXPECT_EQ(Refused(body, type).code(), Code::kInvalidArgument) << type;
  }
  const std::string longest(70, 'b');
  const std::string form = "--" + longest +
                           "\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n" + "--" +
                           longest + "--";
  EXPECT_TRUE(Refused(form, "multipart/form-data; boundary=" + longest).ok());
  EXPECT_THAT(Refused(form, "multipart/form-data; boundary=" + longest + "b").message(),
              HasSubstr("boundary of 1 to 70"));
}

TEST(MultipartTest, PartsThatAreMalformedAreRefused) {
  const auto with_head = [](const std::string& head) {
    return Refused("--xyz\r\n" + head + "\r\n\r\nv\r\n--xyz--").code();
  };
  for (const char* head :
       {"", "X-Other: 1", "no colon", "Content-Disposition: attachment; name=a",
        "Content-Disposition: form-data", "Content-Disposition: form-data; name=\"a",
        "Content-Disposition: form-data; name=\"\"", "Content-Disposition: form-data; name=\"a\"b",
        "Content-Disposition: form-data; name=\"\xff\"",
        "Content-Disposition: form-data; name=a; filename=\"\xc3\""}) {
    EXPECT_EQ(with_head(head), Code::kInvalidArgument) << head;
  }
}

TEST(MultipartTest, HeadersOfAPartAreBounded) {
  const std::string disposition = "Content-Disposition: form-data; name=a\r\n";
  const auto with_filler = [&](size_t bytes) {
    return Refused("--xyz\r\n" + disposition + "X: " + std::string(bytes, 'x') +
                   "\r\n\r\nv\r\n--xyz--");
  };
  EXPECT_TRUE(with_filler(8'000).ok());
  EXPECT_THAT(with_filler(8'192).message(), HasSubstr("larger than 8192 bytes"));
}

}  // namespace
}  // namespace hearth::kit
