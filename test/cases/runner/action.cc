#include "cases/runner/action.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "cases/runner/parse.h"

namespace hearth::cases {
namespace {

Status Wrong(int line, const std::string& what) {
  return InvalidArgument(std::to_string(line) + ": " + what);
}

// The writes of a "commit" or "batch_write", one per line.
Status ReadWriteLines(const std::vector<Line>& lines, const Scope& scope,
                      google::protobuf::RepeatedPtrField<proto::Write>* writes) {
  for (const Line& line : lines) {
    Scanner scanner(line.text);
    const std::string verb = scanner.Word();
    if (!ReadWrite(verb, scanner, scope, writes->Add())) {
      return Wrong(line.number, "'" + verb + "' is no write");
    }
    RETURN_IF_ERROR(Finish(scanner, line.number));
  }
  return Status();
}

Result<Operation> ParseWriteBlock(const std::string& verb, Scanner& scanner,
                                  const Statement& statement, const Scope& scope) {
  Operation operation;
  if (verb == "commit") {
    auto& request = operation.request.emplace<proto::CommitRequest>();
    request.set_database(scope.database);
    if (scanner.TryWord("in")) request.set_transaction(ReadTransaction(scanner, scope));
    RETURN_IF_ERROR(Finish(scanner, statement.head.number));
    RETURN_IF_ERROR(ReadWriteLines(statement.body, scope, request.mutable_writes()));
  } else {
    auto& request = operation.request.emplace<proto::BatchWriteRequest>();
    request.set_database(scope.database);
    RETURN_IF_ERROR(Finish(scanner, statement.head.number));
    RETURN_IF_ERROR(ReadWriteLines(statement.body, scope, request.mutable_writes()));
  }
  return operation;
}

// "call Commit {...}": any request, in protobuf's JSON.
template <size_t i = 0>
bool ReadCall(const std::string& method, Scanner& scanner, const Scope& scope, Request* request) {
  if constexpr (i < std::variant_size_v<Request>) {
    using Message = std::variant_alternative_t<i, Request>;
    if (Message::descriptor()->name() != method + "Request") {
      return ReadCall<i + 1>(method, scanner, scope, request);
    }
    ReadJson(scanner, scope, &request->emplace<Message>());
    return true;
  } else {
    return false;
  }
}

// `text`: the statement on one line; `scanner` has already read its verb.
Result<Operation> ParseOneLine(const std::string& verb, Scanner& scanner, int line,
                               const Scope& scope) {
  Operation operation;
  proto::Write write;
  if (ReadWrite(verb, scanner, scope, &write)) {
    auto& request = operation.request.emplace<proto::CommitRequest>();
    request.set_database(scope.database);
    *request.add_writes() = std::move(write);
    if (scanner.TryWord("in")) request.set_transaction(ReadTransaction(scanner, scope));
  } else if (verb == "call") {
    const std::string method = scanner.Word();
    if (!ReadCall(method, scanner, scope, &operation.request)) {
      return Wrong(line, "there is no method '" + method + "'");
    }
  } else if (!ReadDocumentCall(verb, scanner, scope, &operation) &&
             !ReadReadCall(verb, scanner, scope, &operation) &&
             !ReadQueryCall(verb, scanner, scope, &operation)) {
    return Wrong(line, "unknown verb '" + verb + "'");
  }
  RETURN_IF_ERROR(Finish(scanner, line));
  return operation;
}

Result<Operation> ParseOperation(const Statement& statement, const Scope& scope) {
  Scanner head(statement.head.text);
  const std::string verb = head.Word();
  if (verb == "commit" || verb == "batch_write") {
    return ParseWriteBlock(verb, head, statement, scope);
  }
  const std::string text = statement.Joined();
  Scanner scanner(text);
  scanner.Word();
  return ParseOneLine(verb, scanner, statement.head.number, scope);
}

// "listen L query rooms ...", "listen L documents rooms/a rooms/b" or "listen L raw {...}"; the
// first two continue with "resume $token", "from_time T", "expected_count N" and "once".
AddListener ReadListen(Scanner& scanner, const Scope& scope) {
  AddListener listener{scanner.Word(), {}};
  proto::Target& target = listener.target;
  const auto is_clause = [&scanner] {
    return scanner.NextIsWord("resume") || scanner.NextIsWord("from_time") ||
           scanner.NextIsWord("expected_count") || scanner.NextIsWord("once");
  };
  if (scanner.TryWord("query")) {
    ReadQueryTarget(scanner, scope, target.mutable_query());
  } else if (scanner.TryWord("documents")) {
    target.mutable_documents();
    while (scanner.ok() && !scanner.AtEnd() && !is_clause()) {
      target.mutable_documents()->add_documents(ReadDocumentName(scanner, scope));
    }
  } else if (scanner.TryWord("raw")) {
    ReadJson(scanner, scope, &target);
  } else {
    scanner.FailExpecting("query, documents or raw");
  }
  while (scanner.ok() && !scanner.AtEnd()) {
    if (scanner.TryWord("resume")) {
      target.set_resume_token(ReadToken(scanner, scope));
    } else if (scanner.TryWord("from_time")) {
      *target.mutable_read_time() = ReadTime(scanner, scope);
    } else if (scanner.TryWord("expected_count")) {
      target.mutable_expected_count()->set_value(static_cast<int32_t>(scanner.Integer()));
    } else if (scanner.TryWord("once")) {
      target.set_once(true);
    } else {
      scanner.FailExpecting("resume, from_time, expected_count, once or a clause of queries");
    }
  }
  return listener;
}

ExpectSnapshot ReadSnapshot(Scanner& scanner, const Scope& scope) {
  static const std::vector<std::string_view> kParts = {"added", "modified", "removed", "documents",
                                                       "nothing"};
  ExpectSnapshot snapshot{scanner.Word(), {}, {}, {}, {}};
  while (scanner.ok() && !scanner.AtEnd()) {
    if (scanner.TryWord("added")) {
      snapshot.added = ReadExpectedDocuments(scanner, scope, kParts);
    } else if (scanner.TryWord("modified")) {
      snapshot.modified = ReadExpectedDocuments(scanner, scope, kParts);
    } else if (scanner.TryWord("removed")) {
      snapshot.removed = ReadExpectedDocuments(scanner, scope, kParts);
    } else if (scanner.TryWord("documents")) {
      snapshot.documents = ReadExpectedDocuments(scanner, scope, kParts);
    } else if (!scanner.TryWord("nothing")) {
      scanner.FailExpecting("added, modified, removed, documents or nothing");
    }
  }
  return snapshot;
}

ExpectSent ReadSent(Scanner& scanner) {
  ExpectSent sent{scanner.Word(), {}};
  if (scanner.TryWord("nothing")) return sent;
  while (scanner.ok() && !scanner.AtEnd()) {
    const std::string kind = scanner.Word();
    if (kind == "reset") {
      sent.messages.push_back(kind);
    } else if (kind == "change" || kind == "delete" || kind == "remove") {
      sent.messages.push_back(kind + " " + ReadPath(scanner));
    } else if (kind == "filter") {
      sent.messages.push_back(kind + " " + std::to_string(scanner.Integer()));
    } else {
      scanner.Fail("expected change, delete, remove, reset or filter, found '" + kind + "'");
    }
  }
  return sent;
}

// Parses the rest of "start NAME ..." as a statement.
Result<Action> ParseStart(const Statement& statement, const Scope& scope) {
  Scanner scanner(statement.head.text);
  scanner.Word();
  const std::string name = scanner.Word();
  Statement inner = statement;
  inner.head.text = scanner.Rest();
  if (!scanner.ok()) return Wrong(statement.head.number, scanner.error());
  ASSIGN_OR_RETURN(Operation operation, ParseOperation(inner, scope));
  return StartCall{name, std::move(operation)};
}

}  // namespace

Status Finish(Scanner& scanner, int line) {
  if (!scanner.AtEnd()) scanner.FailExpecting("the end of the line");
  return scanner.ok() ? Status() : Wrong(line, scanner.error());
}

std::string MethodOf(const Request& request) {
  const std::string& name = MessageOf(request).GetDescriptor()->name();
  return name.substr(0, name.size() - std::string_view("Request").size());
}

const google::protobuf::Message& MessageOf(const Request& request) {
  return std::visit([](const auto& message) -> const google::protobuf::Message& { return message; },
                    request);
}

std::vector<ExpectedDocument> ReadExpectedDocuments(Scanner& scanner, const Scope& scope,
                                                    const std::vector<std::string_view>& stops) {
  std::vector<ExpectedDocument> documents;
  const auto is_stop = [&] {
    return std::any_of(stops.begin(), stops.end(),
                       [&scanner](std::string_view word) { return scanner.NextIsToken(word); });
  };
  while (scanner.ok() && !scanner.AtEnd() && !is_stop()) {
    ExpectedDocument document{ReadDocumentName(scanner, scope)};
    if (scanner.Peek() == '{') {
      document.data = ReadDocumentData(scanner, scope);
    } else {
      document.is_missing = scanner.TryWord("missing");
    }
    documents.push_back(std::move(document));
  }
  return documents;
}

Result<Action> ParseAction(const Statement& statement, const Scope& scope) {
  const std::string text = statement.Joined();
  Scanner scanner(text);
  const std::string verb = scanner.Word();
  if (verb == "start") return ParseStart(statement, scope);
  Action action;
  if (verb == "waits") {
    action = CheckWaiting{scanner.Word()};
  } else if (verb == "finish") {
    action = FinishCall{scanner.Word()};
  } else if (verb == "listen") {
    action = ReadListen(scanner, scope);
  } else if (verb == "expect_snapshot") {
    action = ReadSnapshot(scanner, scope);
  } else if (verb == "expect_sent") {
    action = ReadSent(scanner);
  } else if (verb == "await_end") {
    action = AwaitEnd{scanner.Word()};
  } else if (verb == "stop") {
    action = StopListener{scanner.Word()};
  } else if (verb == "disconnect") {
    action = Disconnect{};
  } else {
    ASSIGN_OR_RETURN(Operation operation, ParseOperation(statement, scope));
    return Call{std::move(operation)};
  }
  RETURN_IF_ERROR(Finish(scanner, statement.head.number));
  return action;
}

}  // namespace hearth::cases
