#include "wire/responses.h"

#include "base/text.h"
#include "model/document.h"
#include "model/fields.h"
#include "model/wire_format.h"
#include "wire/message_parts.h"

namespace hearth::wire {
namespace {

using model::AppendBytes;
using model::AppendVarint;
using model::Timestamp;

void AppendDocument(std::string_view name, std::string_view record, const ReadMask& mask,
                    std::string* out) {
  constexpr size_t kTimesBytesMax = 32;
  const std::string_view fields = model::RecordFields(record);
  out->reserve(out->size() + name.size() + fields.size() + kTimesBytesMax);
  AppendBytes(BytesTag(1), name, out);
  if (mask) {
    out->append(model::Fields::FromTrusted(std::string(fields)).Project(*mask).encoded());
  } else {
    out->append(fields);
  }
  AppendBytes(BytesTag(3), EncodeTime(model::RecordCreateTime(record)), out);
  AppendBytes(BytesTag(4), EncodeTime(model::RecordUpdateTime(record)), out);
}

}  // namespace

std::string EncodeWriteResult(const request::WriteResult& result) {
  std::string bytes;
  if (result.document) {
    AppendBytes(BytesTag(1), EncodeTime(model::RecordUpdateTime(*result.document)), &bytes);
  }
  for (const std::string& value : result.transform_results) {
    AppendBytes(BytesTag(2), value, &bytes);
  }
  return bytes;
}

std::string EncodeStatus(const Status& status) {
  std::string bytes;
  if (status.ok()) return bytes;
  AppendVarint(VarintTag(1), &bytes);
  AppendVarint(static_cast<uint64_t>(status.code()), &bytes);
  AppendBytes(BytesTag(2), Beginning(status.message(), kStatusMessageBytesMax), &bytes);
  return bytes;
}

std::string EncodeDocument(std::string_view name, std::string_view record, const ReadMask& mask) {
  std::string bytes;
  AppendDocument(name, record, mask, &bytes);
  return bytes;
}

std::string EncodeFound(std::string_view name, std::string_view record, const ReadMask& mask,
                        Timestamp read_time) {
  std::string bytes;
  AppendBytes(BytesTag(1), EncodeDocument(name, record, mask), &bytes);
  AppendBytes(BytesTag(4), EncodeTime(read_time), &bytes);
  return bytes;
}

std::string EncodeMissing(std::string_view name, Timestamp read_time) {
  std::string bytes;
  AppendBytes(BytesTag(2), name, &bytes);
  AppendBytes(BytesTag(4), EncodeTime(read_time), &bytes);
  return bytes;
}

std::string EncodeNewTransaction(std::string_view transaction) {
  std::string bytes;
  AppendBytes(BytesTag(3), transaction, &bytes);
  return bytes;
}

std::string EncodeBeginTransaction(std::string_view transaction) {
  std::string bytes;
  AppendBytes(BytesTag(1), transaction, &bytes);
  return bytes;
}

std::string EncodeCommit(const request::CommitResult& result) {
  std::string bytes;
  for (const request::WriteResult& write_result : result.write_results) {
    AppendBytes(BytesTag(1), EncodeWriteResult(write_result), &bytes);
  }
  AppendBytes(BytesTag(2), EncodeTime(result.commit_time), &bytes);
  return bytes;
}

std::string EncodeBatchWrite(const std::vector<Result<request::CommitResult>>& outcomes) {
  std::string bytes;
  for (const Result<request::CommitResult>& outcome : outcomes) {
    AppendBytes(BytesTag(1),
                outcome.ok() ? EncodeWriteResult(outcome->write_results.at(0)) : std::string(),
                &bytes);
  }
  for (const Result<request::CommitResult>& outcome : outcomes) {
    AppendBytes(BytesTag(2), EncodeStatus(outcome.status()), &bytes);
  }
  return bytes;
}

std::string EncodeDocumentPage(const model::DatabaseName& database,
                               const request::DocumentPage& page, const ReadMask& mask) {
  const std::string prefix = database.text() + "/documents/";
  std::string bytes;
  for (const request::ListedDocument& listed : page.documents) {
    const std::string name = prefix + listed.path.path();
    std::string document;
    if (listed.record) {
      AppendDocument(name, *listed.record, mask, &document);
    } else {
      AppendBytes(BytesTag(1), name, &document);
    }
    AppendBytes(BytesTag(1), document, &bytes);
  }
  if (!page.next_page_token.empty()) AppendBytes(BytesTag(2), page.next_page_token, &bytes);
  return bytes;
}

std::string EncodeCollectionIdPage(const request::CollectionIdPage& page) {
  std::string bytes;
  for (const std::string& id : page.collection_ids) AppendBytes(BytesTag(1), id, &bytes);
  if (!page.next_page_token.empty()) AppendBytes(BytesTag(2), page.next_page_token, &bytes);
  return bytes;
}

}  // namespace hearth::wire
