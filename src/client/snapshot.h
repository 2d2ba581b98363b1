// The results of reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/value.h"
#include "model/document.h"
#include "model/names.h"
#include "model/record.h"

namespace hearth::client {

class DocumentReference;
class Transport;

// One document at one moment, or the fact that it did not exist. Holds the stored form and decodes
// fields on demand.
//
// Threads: immutable. Ownership: shares the stored bytes with the database's cache.
class DocumentSnapshot {
 public:
  DocumentSnapshot(std::shared_ptr<Transport> transport, model::DocumentPath path,
                   model::Record record, Timestamp read_time,
                   std::optional<double> distance = std::nullopt);

  bool exists() const { return record_ != nullptr; }
  const model::DocumentPath& path() const { return path_; }
  std::string_view id() const { return path_.id(); }
  DocumentReference reference() const;
  Timestamp read_time() const { return read_time_; }
  // Require exists().
  Timestamp create_time() const { return model::RecordCreateTime(*record_); }
  Timestamp update_time() const { return model::RecordUpdateTime(*record_); }

  // All fields. Empty if the document does not exist.
  Map Data() const;
  // The value at a field path such as "address.city"; nullopt if there is no such field or the path
  // is malformed.
  std::optional<Value> Get(std::string_view field_path) const;
  // The fields in place, for loops over many documents. Borrows from this snapshot.
  model::MapView view() const;

  // For results of FindNearest with a distance field.
  const std::optional<double>& distance() const { return distance_; }

 private:
  std::shared_ptr<Transport> transport_;  // Shared by all objects of this database.
  model::DocumentPath path_;
  model::Record record_;
  Timestamp read_time_;
  std::optional<double> distance_;
};

// One difference between two snapshots of a live query, indexed as in the SDKs: apply them in
// order.
struct DocumentChange {
  enum class Kind : uint8_t { kAdded, kModified, kRemoved };
  static constexpr size_t kNowhere = static_cast<size_t>(-1);

  Kind kind;
  DocumentSnapshot document;
  size_t old_index = kNowhere;  // For kModified and kRemoved.
  size_t new_index = kNowhere;  // For kAdded and kModified.
};

// The results of a query, in its order.
struct QuerySnapshot {
  std::vector<DocumentSnapshot> documents;
  Timestamp read_time;
  std::vector<DocumentChange> changes = {};  // For listeners: since the previous snapshot.

  bool empty() const { return documents.empty(); }
  size_t size() const { return documents.size(); }
};

struct WriteResult {
  Timestamp write_time;
};

}  // namespace hearth::client
