#include "cases/runner/parse.h"

namespace hearth::cases {
namespace {

// The clauses that reads share: "mask a, b", "at T", "in t1". False if none of them follows.
template <typename ReadRequest>
bool TryReadClause(Scanner& scanner, const Scope& scope, ReadRequest* request) {
  if (scanner.TryWord("mask")) {
    request->mutable_mask();
    AddFieldPaths(ReadFieldPaths(scanner), request->mutable_mask());
  } else if (scanner.TryWord("at")) {
    *request->mutable_read_time() = ReadTime(scanner, scope);
  } else if (scanner.TryWord("in")) {
    request->set_transaction(ReadTransaction(scanner, scope));
  } else {
    return false;
  }
  return true;
}

void ReadGet(Scanner& scanner, const Scope& scope, proto::GetDocumentRequest* request) {
  request->set_name(ReadDocumentName(scanner, scope));
  while (scanner.ok() && !scanner.AtEnd()) {
    if (!TryReadClause(scanner, scope, request)) scanner.FailExpecting("mask, at or in");
  }
}

void ReadBatchGet(Scanner& scanner, const Scope& scope, Operation* operation) {
  auto& request = operation->request.emplace<proto::BatchGetDocumentsRequest>();
  request.set_database(scope.database);
  while (scanner.ok() && !scanner.AtEnd()) {
    if (scanner.TryWord("new")) {
      operation->new_transaction = scanner.Word();
      *request.mutable_new_transaction() = ReadTransactionOptions(scanner, scope);
    } else if (!TryReadClause(scanner, scope, &request)) {
      request.add_documents(ReadDocumentName(scanner, scope));
    }
  }
}

void ReadList(Scanner& scanner, const Scope& scope, Operation* operation) {
  auto* request = &operation->request.emplace<proto::ListDocumentsRequest>();
  const auto [parent, id] = SplitCollection(ReadPath(scanner), scope);
  request->set_parent(parent);
  if (id != "*") request->set_collection_id(id);
  while (scanner.ok() && !scanner.AtEnd()) {
    if (scanner.TryWord("under")) {
      request->set_parent(ReadDocumentName(scanner, scope));
    } else if (scanner.TryWord("page_size")) {
      request->set_page_size(static_cast<int32_t>(scanner.Integer()));
    } else if (scanner.TryWord("page_token")) {
      request->set_page_token(ReadToken(scanner, scope));
    } else if (scanner.TryWord("all_pages")) {
      operation->is_all_pages = true;
    } else if (scanner.TryWord("order_by")) {
      request->set_order_by(ReadText(scanner));
    } else if (scanner.TryWord("show_missing")) {
      request->set_show_missing(true);
    } else if (!TryReadClause(scanner, scope, request)) {
      scanner.FailExpecting(
          "under, page_size, page_token, all_pages, order_by, show_missing, mask, at or in");
    }
  }
}

void ReadListCollections(Scanner& scanner, const Scope& scope, Operation* operation) {
  auto* request = &operation->request.emplace<proto::ListCollectionIdsRequest>();
  request->set_parent(scope.root());
  while (scanner.ok() && !scanner.AtEnd()) {
    if (scanner.TryWord("under")) {
      request->set_parent(ReadDocumentName(scanner, scope));
    } else if (scanner.TryWord("page_size")) {
      request->set_page_size(static_cast<int32_t>(scanner.Integer()));
    } else if (scanner.TryWord("page_token")) {
      request->set_page_token(ReadToken(scanner, scope));
    } else if (scanner.TryWord("all_pages")) {
      operation->is_all_pages = true;
    } else if (scanner.TryWord("at")) {
      *request->mutable_read_time() = ReadTime(scanner, scope);
    } else {
      scanner.FailExpecting("under, page_size, page_token, all_pages or at");
    }
  }
}

}  // namespace

std::string ReadToken(Scanner& scanner, const Scope& scope) {
  if (NextIsText(scanner)) return ReadText(scanner);
  const Variable* token = ReadVariable(scanner, scope, Variable::Kind::kToken);
  return token != nullptr ? token->bytes : "";
}

std::string ReadTransaction(Scanner& scanner, const Scope& scope) {
  if (scanner.NextIsWord("bytes")) return ReadValue(scanner, scope).bytes_value();
  const std::string name = scanner.Word();
  const auto found = scope.variables.find(name);
  if (found != scope.variables.end() && found->second.kind == Variable::Kind::kTransaction) {
    return found->second.bytes;
  }
  scanner.Fail("no transaction has been begun as " + name);
  return {};
}

proto::TransactionOptions ReadTransactionOptions(Scanner& scanner, const Scope& scope) {
  proto::TransactionOptions options;
  if (scanner.TryWord("read_only")) options.mutable_read_only();
  if (scanner.TryWord("read_write")) options.mutable_read_write();
  if (scanner.TryWord("at")) {
    *options.mutable_read_only()->mutable_read_time() = ReadTime(scanner, scope);
  }
  if (scanner.TryWord("retry")) {
    options.mutable_read_write()->set_retry_transaction(ReadTransaction(scanner, scope));
  }
  return options;
}

std::pair<std::string, std::string> SplitCollection(const std::string& path, const Scope& scope) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {scope.root(), path};
  return {scope.NameOf(path.substr(0, slash)), path.substr(slash + 1)};
}

bool ReadReadCall(std::string_view verb, Scanner& scanner, const Scope& scope,
                  Operation* operation) {
  if (verb == "get") {
    ReadGet(scanner, scope, &operation->request.emplace<proto::GetDocumentRequest>());
  } else if (verb == "batch_get") {
    ReadBatchGet(scanner, scope, operation);
  } else if (verb == "list") {
    ReadList(scanner, scope, operation);
  } else if (verb == "list_collections") {
    ReadListCollections(scanner, scope, operation);
  } else if (verb == "begin") {
    auto& request = operation->request.emplace<proto::BeginTransactionRequest>();
    request.set_database(scope.database);
    operation->new_transaction = scanner.Word();
    if (!scanner.AtEnd()) *request.mutable_options() = ReadTransactionOptions(scanner, scope);
  } else if (verb == "rollback") {
    auto& request = operation->request.emplace<proto::RollbackRequest>();
    request.set_database(scope.database);
    request.set_transaction(ReadTransaction(scanner, scope));
  } else {
    return false;
  }
  return true;
}

}  // namespace hearth::cases
