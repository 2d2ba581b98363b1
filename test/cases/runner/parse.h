// The parts of ParseAction. Each reads what follows a verb.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "cases/runner/operation.h"
#include "cases/runner/scanner.h"
#include "cases/runner/values.h"
#include "google/firestore/v1/query.pb.h"

namespace hearth::cases {

// InvalidArgument, with "LINE: ", for an error of the scanner or unread text.
Status Finish(Scanner& scanner, int line);

// put, create, merge, update, delete, verify, transform and raw; false for other verbs.
bool ReadWrite(std::string_view verb, Scanner& scanner, const Scope& scope, proto::Write* write);

// create_document, update_document, delete_document; false for other verbs.
bool ReadDocumentCall(std::string_view verb, Scanner& scanner, const Scope& scope,
                      Operation* operation);

// get, batch_get, list, list_collections, begin, rollback; false for other verbs.
bool ReadReadCall(std::string_view verb, Scanner& scanner, const Scope& scope,
                  Operation* operation);

// query, aggregate, partition; false for other verbs.
bool ReadQueryCall(std::string_view verb, Scanner& scanner, const Scope& scope,
                   Operation* operation);

// The query of a listener: "rooms where ...", up to a clause that queries do not have.
void ReadQueryTarget(Scanner& scanner, const Scope& scope, proto::Target_QueryTarget* target);

// A stored token, or any text.
std::string ReadToken(Scanner& scanner, const Scope& scope);

// "in t1", for requests that can be part of a transaction: returns the id.
std::string ReadTransaction(Scanner& scanner, const Scope& scope);
// "[read_only] [at T] [retry t0]"
proto::TransactionOptions ReadTransactionOptions(Scanner& scanner, const Scope& scope);

// "rooms/a/seats": the name of the collection's parent, and the collection's id.
std::pair<std::string, std::string> SplitCollection(const std::string& path, const Scope& scope);

// Protobuf's JSON, to the end of the line.
void ReadJson(Scanner& scanner, const Scope& scope, google::protobuf::Message* message);

template <typename Mask>
void AddFieldPaths(const std::vector<std::string>& paths, Mask* mask) {
  for (const std::string& path : paths) mask->add_field_paths(path);
}

}  // namespace hearth::cases
