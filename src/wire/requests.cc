#include "wire/requests.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <string>
#include <utility>

#include "base/status_macros.h"
#include "model/limits.h"
#include "model/transform.h"
#include "wire/parse_memory.h"

namespace hearth::wire {
namespace {

using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;
using model::DatabaseName;
using model::DocumentName;
using model::FieldPath;
using model::Fields;
using model::FieldTransform;
using model::Timestamp;
using model::TransformKind;
using request::Write;
using request::WriteKind;

// Sorted by key, so that the model accepts the bytes as canonical without conversion.
template <typename Message>
std::string SerializeSorted(const Message& message) {
  std::string bytes;
  bytes.reserve(message.ByteSizeLong());
  StringOutputStream stream(&bytes);
  CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeWithCachedSizes(&coded);
  coded.Trim();
  return bytes;
}

std::string EncodeOperand(const proto::Value& value) { return SerializeSorted(value); }

std::string EncodeOperand(const proto::ArrayValue& array) {
  proto::Value value;
  *value.mutable_array_value() = array;
  return SerializeSorted(value);
}

Result<FieldTransform> ReadTransform(const proto::DocumentTransform::FieldTransform& transform) {
  using Proto = proto::DocumentTransform::FieldTransform;
  ASSIGN_OR_RETURN(FieldPath path, FieldPath::Parse(transform.field_path()));
  FieldTransform result{std::move(path), TransformKind::kServerTime, ""};
  switch (transform.transform_type_case()) {
    case Proto::kSetToServerValue:
      if (transform.set_to_server_value() != Proto::REQUEST_TIME) {
        return InvalidArgument(
            "ServerValue type must be specified for set_to_server_value transformation.");
      }
      return result;
    case Proto::kIncrement:
      result.kind = TransformKind::kIncrement;
      result.operand = EncodeOperand(transform.increment());
      break;
    case Proto::kMaximum:
      result.kind = TransformKind::kMaximum;
      result.operand = EncodeOperand(transform.maximum());
      break;
    case Proto::kMinimum:
      result.kind = TransformKind::kMinimum;
      result.operand = EncodeOperand(transform.minimum());
      break;
    case Proto::kAppendMissingElements:
      result.kind = TransformKind::kArrayUnion;
      result.operand = EncodeOperand(transform.append_missing_elements());
      break;
    case Proto::kRemoveAllFromArray:
      result.kind = TransformKind::kArrayRemove;
      result.operand = EncodeOperand(transform.remove_all_from_array());
      break;
    case Proto::TRANSFORM_TYPE_NOT_SET:
      return InvalidArgument("Operation type must be specified for field transformation.");
  }
  ASSIGN_OR_RETURN(result.operand, model::ValidateValue(std::move(result.operand)));
  RETURN_IF_ERROR(ValidateTransform(result));
  return result;
}

// Unknown fields are not part of a value, but they are part of its bytes. They are so rare that
// they are discarded only after a value was rejected.
Result<FieldTransform> ReadKnown(const proto::DocumentTransform::FieldTransform& transform) {
  Result<FieldTransform> read = ReadTransform(transform);
  if (read.ok()) return read;
  proto::DocumentTransform::FieldTransform known = transform;
  known.DiscardUnknownFields();
  return ReadTransform(known);
}

Status ReadTransforms(
    const google::protobuf::RepeatedPtrField<proto::DocumentTransform::FieldTransform>& transforms,
    Write* write) {
  if (static_cast<size_t>(transforms.size()) > model::kTransformsPerDocumentMax) {
    return InvalidArgument(
        "a document can have at most " + std::to_string(model::kTransformsPerDocumentMax) +
        " field transforms in one write, this one has " + std::to_string(transforms.size()));
  }
  for (const auto& transform : transforms) {
    ASSIGN_OR_RETURN(FieldTransform read, ReadKnown(transform));
    for (const FieldTransform& other : write->transforms) {
      if (other.path == read.path) continue;
      const bool is_nested = other.path.IsPrefixOf(read.path);
      if (is_nested || read.path.IsPrefixOf(other.path)) {
        return InvalidArgument("Cannot transform property " +
                               (is_nested ? other.path : read.path).ToString() +
                               " and its nested property at the same time.");
      }
    }
    write->transforms.push_back(std::move(read));
  }
  return Status();
}

Result<model::DocumentPath> ReadPath(const DatabaseName& database, std::string_view name) {
  ASSIGN_OR_RETURN(DocumentName document, DocumentName::Parse(name));
  RETURN_IF_ERROR(CheckSameDatabase(database, document.database));
  return std::move(document.path);
}

Status CheckNoMaskNorTransforms(const proto::Write& write, std::string_view operation) {
  const std::string subject = "a " + std::string(operation);
  if (write.has_update_mask()) {
    return InvalidArgument(subject + " must not specify a document mask.");
  }
  if (write.update_transforms_size() > 0) {
    return InvalidArgument(subject + " must not specify a update transform.");
  }
  return Status();
}

Result<Write> ReadUpdate(const DatabaseName& database, proto::Write* write) {
  ASSIGN_OR_RETURN(model::DocumentPath path, ReadPath(database, write->update().name()));
  Write result{std::move(path), WriteKind::kUpdate, {}, {}, {}, {}};
  if (write->has_update_mask()) {
    ASSIGN_OR_RETURN(result.mask, ReadFieldPaths(write->update_mask()));
  }
  ASSIGN_OR_RETURN(result.fields, ReadFields(write->mutable_update()));
  RETURN_IF_ERROR(ReadTransforms(write->update_transforms(), &result));
  return result;
}

Result<Write> ReadDelete(const DatabaseName& database, const proto::Write& write) {
  RETURN_IF_ERROR(CheckNoMaskNorTransforms(write, "delete"));
  ASSIGN_OR_RETURN(model::DocumentPath path, ReadPath(database, write.delete_()));
  return Write{std::move(path), WriteKind::kDelete, {}, {}, {}, {}};
}

Result<Write> ReadVerify(const DatabaseName& database, const proto::Write& write) {
  RETURN_IF_ERROR(CheckNoMaskNorTransforms(write, "verify"));
  ASSIGN_OR_RETURN(model::DocumentPath path, ReadPath(database, write.verify()));
  if (write.current_document().condition_type_case() ==
      proto::Precondition::CONDITION_TYPE_NOT_SET) {
    return InvalidArgument("a verify must contain a precondition");
  }
  return Write{std::move(path), WriteKind::kVerify, {}, {}, {}, {}};
}

// The older form of transforms: it changes only the transformed fields.
Result<Write> ReadDocumentTransform(const DatabaseName& database, const proto::Write& write) {
  RETURN_IF_ERROR(CheckNoMaskNorTransforms(write, "transform"));
  ASSIGN_OR_RETURN(model::DocumentPath path, ReadPath(database, write.transform().document()));
  if (write.transform().field_transforms_size() == 0) {
    return InvalidArgument("The list of FieldTransform must not be empty.");
  }
  Write result{std::move(path), WriteKind::kUpdate, {}, std::vector<FieldPath>(), {}, {}};
  RETURN_IF_ERROR(ReadTransforms(write.transform().field_transforms(), &result));
  return result;
}

}  // namespace

void SilenceProtobufLog() { google::protobuf::SetLogHandler(nullptr); }

Status ParseMessage(std::string_view bytes, google::protobuf::MessageLite* message) {
  ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  CodedInputStream coded(&stream);
  coded.SetRecursionLimit(kMessageDepthMax);
  if (message->ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage()) return Status();
  return InvalidArgument("the request is not a valid " + message->GetTypeName() +
                         " message: malformed protobuf, text that is not UTF-8, or values nested "
                         "too deeply");
}

Result<std::vector<FieldPath>> ReadFieldPaths(const proto::DocumentMask& mask) {
  std::vector<FieldPath> paths;
  paths.reserve(static_cast<size_t>(mask.field_paths_size()));
  for (const std::string& text : mask.field_paths()) {
    ASSIGN_OR_RETURN(FieldPath path, FieldPath::Parse(text));
    paths.push_back(std::move(path));
  }
  return paths;
}

Result<Timestamp> ReadTime(const google::protobuf::Timestamp& time) {
  const Result<Timestamp> result = Timestamp::FromParts(time.seconds(), time.nanos());
  if (!result.ok()) {
    return InvalidArgument(
        "invalid timestamp, please check https://developers.google.com/protocol-buffers/docs/"
        "reference/java/com/google/protobuf/util/Timestamps.html#isValid-long-int- for the "
        "timestamp format.");
  }
  if (time.nanos() % 1000 != 0) {
    return InvalidArgument("timestamp cannot have more than microseconds precision");
  }
  return result;
}

Result<request::Precondition> ReadPrecondition(const proto::Precondition& precondition) {
  request::Precondition result;
  if (precondition.has_exists()) result.exists = precondition.exists();
  if (precondition.has_update_time()) {
    ASSIGN_OR_RETURN(result.update_time, ReadTime(precondition.update_time()));
  }
  return result;
}

Result<request::TransactionOptions> ReadTransactionOptions(
    const proto::TransactionOptions& options, request::TransactionOptions::Mode default_mode) {
  using Mode = request::TransactionOptions::Mode;
  request::TransactionOptions result;
  result.mode = options.has_read_only()    ? Mode::kReadOnly
                : options.has_read_write() ? Mode::kReadWrite
                                           : default_mode;
  if (options.read_only().has_read_time()) {
    ASSIGN_OR_RETURN(result.read_time, ReadTime(options.read_only().read_time()));
  }
  result.retry_transaction = options.read_write().retry_transaction();
  return result;
}

Result<std::string> ReadValue(const proto::Value& value) {
  Result<std::string> encoded = model::ValidateValue(SerializeSorted(value));
  if (encoded.ok()) return encoded;
  proto::Value known = value;  // As in ReadKnown.
  known.DiscardUnknownFields();
  return model::ValidateValue(SerializeSorted(known));
}

Result<Fields> ReadFields(proto::Document* document) {
  // Only the fields remain, which is the stored form.
  document->clear_name();
  document->clear_create_time();
  document->clear_update_time();
  Result<Fields> fields = Fields::Validate(SerializeSorted(*document));
  if (fields.ok()) return fields;
  document->DiscardUnknownFields();  // As in ReadKnown.
  return Fields::Validate(SerializeSorted(*document));
}

Result<Write> ReadWrite(const DatabaseName& database, proto::Write* write) {
  const auto read = [&]() -> Result<Write> {
    switch (write->operation_case()) {
      case proto::Write::kUpdate:
        return ReadUpdate(database, write);
      case proto::Write::kDelete:
        return ReadDelete(database, *write);
      case proto::Write::kTransform:
        return ReadDocumentTransform(database, *write);
      case proto::Write::kVerify:
        return ReadVerify(database, *write);
      case proto::Write::OPERATION_NOT_SET:
        break;
    }
    return InvalidArgument("empty write operation");
  };
  ASSIGN_OR_RETURN(Write result, read());
  ASSIGN_OR_RETURN(result.precondition, ReadPrecondition(write->current_document()));
  return result;
}

Result<std::vector<Write>> ReadWrites(const DatabaseName& database,
                                      google::protobuf::RepeatedPtrField<proto::Write>* writes) {
  std::vector<Write> result;
  result.reserve(static_cast<size_t>(writes->size()));
  for (proto::Write& write : *writes) {
    ASSIGN_OR_RETURN(Write read, ReadWrite(database, &write));
    result.push_back(std::move(read));
  }
  return result;
}

Status CheckSameDatabase(const DatabaseName& database, const DatabaseName& name) {
  if (database == name) return Status();
  return InvalidArgument("The request was for database '" + database.text() +
                         "' but was attempting to access database '" + name.text() + "'");
}

}  // namespace hearth::wire
