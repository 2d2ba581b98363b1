#include <hearth/client/remote/remote.h>

#include <cstdio>

int main(int, char** arguments) {
  const auto db = hearth::client::Connect({.address = arguments[1], .project = "rooms"});
  if (!db.ok() || !db->Doc("rooms/r1").Set({{"topic", "fire"}}).ok()) return 1;
  const auto room = db->Doc("rooms/r1").Get();
  if (!room.ok() || room->Get("topic") != hearth::client::Value("fire")) return 1;
  std::puts("ok");
}
