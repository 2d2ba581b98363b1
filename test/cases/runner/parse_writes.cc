#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <vector>

#include "cases/runner/parse.h"

namespace hearth::cases {
namespace {

void ReadPrecondition(Scanner& scanner, const Scope& scope, proto::Precondition* precondition) {
  if (scanner.TryWord("exists")) {
    precondition->set_exists(true);
  } else if (scanner.TryWord("missing")) {
    precondition->set_exists(false);
  } else if (scanner.TryWord("update_time")) {
    *precondition->mutable_update_time() = ReadTime(scanner, scope);
  } else if (!scanner.TryWord("anything")) {
    scanner.FailExpecting("exists, missing, update_time or anything");
  }
}

// "apply n increment(1), m.f maximum(2)"
void ReadTransforms(Scanner& scanner, const Scope& scope,
                    google::protobuf::RepeatedPtrField<Transform>* transforms) {
  do {
    Transform transform;
    const std::string path = ReadFieldPath(scanner);
    if (!TryTransform(scanner, scope, &transform) && !scanner.TryWord("unset")) {
      scanner.FailExpecting("a transform");
    }
    transform.set_field_path(path);
    *transforms->Add() = transform;
  } while (scanner.Try(',') && scanner.ok());
}

// The clauses after a write's document.
void ReadClauses(Scanner& scanner, const Scope& scope, proto::Write* write) {
  while (scanner.ok() && !scanner.AtEnd() && !scanner.NextIsWord("in")) {
    if (scanner.TryWord("mask")) {
      write->mutable_update_mask();
      AddFieldPaths(ReadFieldPaths(scanner), write->mutable_update_mask());
    } else if (scanner.TryWord("apply")) {
      ReadTransforms(scanner, scope, write->mutable_update_transforms());
    } else if (scanner.TryWord("if")) {
      ReadPrecondition(scanner, scope, write->mutable_current_document());
    } else {
      scanner.FailExpecting("mask, apply or if");
    }
  }
}

// The top-level fields of the written data, in a fixed order.
std::vector<std::string> TopLevelPaths(const proto::Document& document) {
  std::vector<std::string> names;
  for (const auto& [name, value] : document.fields()) names.push_back(QuoteFieldName(name));
  std::sort(names.begin(), names.end());
  return names;
}

void ReadUpdate(std::string_view verb, Scanner& scanner, const Scope& scope, proto::Write* write) {
  write->mutable_update()->set_name(ReadDocumentName(scanner, scope));
  const DocumentData data = ReadDocumentData(scanner, scope);
  *write->mutable_update()->mutable_fields() = data.fields;
  for (const Transform& transform : data.transforms) *write->add_update_transforms() = transform;
  ReadClauses(scanner, scope, write);
  const bool is_partial = verb == "merge" || verb == "update";
  if (is_partial && !write->has_update_mask()) {
    write->mutable_update_mask();
    AddFieldPaths(TopLevelPaths(write->update()), write->mutable_update_mask());
  }
  if (verb == "put" && write->has_update_mask()) scanner.Fail("put has no mask; merge does");
  if (verb == "create") write->mutable_current_document()->set_exists(false);
  if (verb == "update" && !write->has_current_document()) {
    write->mutable_current_document()->set_exists(true);
  }
}

void ReadTransformWrite(Scanner& scanner, const Scope& scope, proto::Write* write) {
  write->mutable_transform()->set_document(ReadDocumentName(scanner, scope));
  if (scanner.TryWord("apply")) {
    ReadTransforms(scanner, scope, write->mutable_transform()->mutable_field_transforms());
  } else {
    const DocumentData data = ReadDocumentData(scanner, scope);
    if (!data.fields.empty()) scanner.Fail("a transform has no fields besides its transforms");
    for (const Transform& transform : data.transforms) {
      *write->mutable_transform()->add_field_transforms() = transform;
    }
  }
  ReadClauses(scanner, scope, write);
}

void ReadCreateDocument(Scanner& scanner, const Scope& scope,
                        proto::CreateDocumentRequest* request) {
  const auto [parent, id] = SplitCollection(ReadPath(scanner), scope);
  request->set_parent(parent);
  request->set_collection_id(id);
  if (scanner.TryWord("id")) request->set_document_id(ReadPath(scanner));
  *request->mutable_document()->mutable_fields() = ReadDocumentData(scanner, scope).fields;
  if (scanner.TryWord("show")) {
    request->mutable_mask();
    AddFieldPaths(ReadFieldPaths(scanner), request->mutable_mask());
  }
}

void ReadUpdateDocument(Scanner& scanner, const Scope& scope,
                        proto::UpdateDocumentRequest* request) {
  request->mutable_document()->set_name(ReadDocumentName(scanner, scope));
  *request->mutable_document()->mutable_fields() = ReadDocumentData(scanner, scope).fields;
  while (scanner.ok() && !scanner.AtEnd()) {
    if (scanner.TryWord("mask")) {
      request->mutable_update_mask();
      AddFieldPaths(ReadFieldPaths(scanner), request->mutable_update_mask());
    } else if (scanner.TryWord("show")) {
      request->mutable_mask();
      AddFieldPaths(ReadFieldPaths(scanner), request->mutable_mask());
    } else if (scanner.TryWord("if")) {
      ReadPrecondition(scanner, scope, request->mutable_current_document());
    } else {
      scanner.FailExpecting("mask, show or if");
    }
  }
}

}  // namespace

void ReadJson(Scanner& scanner, const Scope& scope, google::protobuf::Message* message) {
  const std::string json = scope.Substitute(scanner.Rest());
  const auto status = google::protobuf::util::JsonStringToMessage(json, message);
  if (!status.ok()) scanner.Fail(std::string(status.message()));
}

bool ReadWrite(std::string_view verb, Scanner& scanner, const Scope& scope, proto::Write* write) {
  if (verb == "put" || verb == "create" || verb == "merge" || verb == "update") {
    ReadUpdate(verb, scanner, scope, write);
  } else if (verb == "delete" || verb == "verify") {
    const std::string name = ReadDocumentName(scanner, scope);
    verb == "delete" ? write->set_delete_(name) : write->set_verify(name);
    ReadClauses(scanner, scope, write);
  } else if (verb == "transform") {
    ReadTransformWrite(scanner, scope, write);
  } else if (verb == "raw") {
    ReadJson(scanner, scope, write);
  } else {
    return false;
  }
  return true;
}

bool ReadDocumentCall(std::string_view verb, Scanner& scanner, const Scope& scope,
                      Operation* operation) {
  if (verb == "create_document") {
    ReadCreateDocument(scanner, scope, &operation->request.emplace<proto::CreateDocumentRequest>());
  } else if (verb == "update_document") {
    ReadUpdateDocument(scanner, scope, &operation->request.emplace<proto::UpdateDocumentRequest>());
  } else if (verb == "delete_document") {
    auto& request = operation->request.emplace<proto::DeleteDocumentRequest>();
    request.set_name(ReadDocumentName(scanner, scope));
    if (scanner.TryWord("if")) {
      ReadPrecondition(scanner, scope, request.mutable_current_document());
    }
  } else {
    return false;
  }
  return true;
}

}  // namespace hearth::cases
