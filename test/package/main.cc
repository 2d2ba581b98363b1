// usage: rooms embedded FOLDER | rooms remote HOST:PORT
//
// The examples of docs/client.md, as they stand there.
#include <hearth/hearth.h>

#include <future>
#include <iostream>
#include <string>

using namespace hearth;
using namespace hearth::client;

namespace {

Result<Firestore> OpenFolder(const std::string& folder) {
  EmbeddedOptions options;
  options.data_path = folder;
  return OpenEmbedded(options);
}

Result<Firestore> ConnectTo(const std::string& address) {
  RemoteOptions options;
  options.address = address;  // "127.0.0.1:8080"
  options.project = "my-project";
  return Connect(options);
}

Status WriteRooms(const Firestore& db) {
  DocumentReference room = db.Doc("rooms/r1");
  HEARTH_RETURN_IF_ERROR(room.Set({{"topic", "fire"}, {"size", 3}}).status());
  HEARTH_RETURN_IF_ERROR(room.Update({{"size", FieldValue::Increment(1)},
                                      {"seen", FieldValue::ServerTimestamp()},
                                      {"address.city", "Paris"}})
                             .status());

  HEARTH_ASSIGN_OR_RETURN(DocumentSnapshot snapshot, room.Get());
  if (snapshot.exists()) std::cout << ToString(*snapshot.Get("address.city")) << "\n";

  WriteBatch batch = db.Batch();
  for (int i = 2; i <= 9; ++i) {
    batch.Set(db.Doc("rooms/r" + std::to_string(i)), {{"topic", "water"}, {"size", i}});
  }
  return batch.Commit().status();
}

Status AskForRooms(const Firestore& db) {
  const Query large = db.Collection("rooms")
                          .Where("topic", Op::kEqual, "water")
                          .Where("size", Op::kGreater, 4)
                          .OrderBy("size", Direction::kDescending)
                          .Limit(3);
  HEARTH_ASSIGN_OR_RETURN(QuerySnapshot rooms, large.Get());
  for (const DocumentSnapshot& room : rooms.documents) std::cout << room.id() << "\n";

  HEARTH_ASSIGN_OR_RETURN(int64_t count, db.Collection("rooms").Count());
  std::cout << count << " rooms\n";
  return Status();
}

Status MoveAChair(const Firestore& db) {
  return db.RunTransaction([&](Transaction& transaction) -> Status {
    HEARTH_ASSIGN_OR_RETURN(DocumentSnapshot from, transaction.Get(db.Doc("rooms/r2")));
    const int64_t size = from.Get("size")->integer().value_or(0);
    if (size == 0) return Status(Code::kFailedPrecondition, "no chair is left");
    transaction.Update(db.Doc("rooms/r2"), {{"size", size - 1}});
    transaction.Update(db.Doc("rooms/r3"), {{"size", FieldValue::Increment(1)}});
    return Status();
  });
}

Status ListenOnce(const Firestore& db) {
  std::promise<size_t> seen;
  HEARTH_ASSIGN_OR_RETURN(Listener listener,
                          db.Collection("rooms").Listen([&](const Result<QuerySnapshot>& rooms) {
                            seen.set_value(rooms.ok() ? rooms->size() : 0);
                          }));
  std::cout << seen.get_future().get() << " rooms seen\n";
  return Status();
}

Status CheckErrors(const Firestore& db) {
  const Result<WriteResult> created = db.Doc("rooms/r1").Create({{"topic", "earth"}});
  if (created.status().code() != Code::kAlreadyExists) {
    return Status(Code::kInternal, "a room was created twice");
  }
  return Status();
}

Status Run(const std::string& where, const std::string& what) {
  HEARTH_ASSIGN_OR_RETURN(const Firestore db,
                          where == "embedded" ? OpenFolder(what) : ConnectTo(what));
  HEARTH_RETURN_IF_ERROR(WriteRooms(db));
  HEARTH_RETURN_IF_ERROR(AskForRooms(db));
  HEARTH_RETURN_IF_ERROR(MoveAChair(db));
  HEARTH_RETURN_IF_ERROR(CheckErrors(db));
  if (where == "embedded") HEARTH_RETURN_IF_ERROR(ListenOnce(db));
  return Status();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const Status status = Run(arguments[1], arguments[2]);
  if (!status.ok()) std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
