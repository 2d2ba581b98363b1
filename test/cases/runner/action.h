// The meaning of the statements of a case.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "cases/runner/case_file.h"
#include "cases/runner/operation.h"
#include "cases/runner/values.h"
#include "google/firestore/v1/firestore.pb.h"

namespace hearth::cases {

// A request whose answer is awaited.
struct Call {
  Operation operation;
};

// A request that is left in progress, with a name.
struct StartCall {
  std::string name;
  Operation operation;
};
// The named request must not have been answered yet.
struct CheckWaiting {
  std::string name;
};
struct FinishCall {
  std::string name;
};

struct AddListener {
  std::string name;
  proto::Target target;  // Without its id.
};
// A document that an expected snapshot lists, optionally with its content.
struct ExpectedDocument {
  std::string name;
  std::optional<DocumentData> data = {};
  bool is_missing = false;
};
struct ExpectSnapshot {
  std::string name;
  std::vector<ExpectedDocument> added;
  std::vector<ExpectedDocument> modified;
  std::vector<ExpectedDocument> removed;
  std::optional<std::vector<ExpectedDocument>> documents;  // All results, in order.
};
// The messages that the server sent about the listener since the last such check.
struct ExpectSent {
  std::string name;
  std::vector<std::string> messages;
};
// Waits for the listener's end; `error` lines give the expected status.
struct AwaitEnd {
  std::string name;
};
struct StopListener {
  std::string name;
};
// Ends the stream, and with it all listeners.
struct Disconnect {};

using Action = std::variant<Call, StartCall, CheckWaiting, FinishCall, AddListener, ExpectSnapshot,
                            ExpectSent, AwaitEnd, StopListener, Disconnect>;

// Errors: InvalidArgument, with "LINE: " before the message.
Result<Action> ParseAction(const Statement& statement, const Scope& scope);

// Reads documents such as `rooms/a {"n": 1} rooms/b missing`, up to the end or one of `stops`.
std::vector<ExpectedDocument> ReadExpectedDocuments(Scanner& scanner, const Scope& scope,
                                                    const std::vector<std::string_view>& stops);

}  // namespace hearth::cases
