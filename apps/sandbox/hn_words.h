#pragma once

#include <cstdint>
#include <string>

namespace hearth::sandbox {

// Numbers that follow from a seed and nothing else. The same on every machine.
class Lot {
 public:
  explicit Lot(uint64_t seed) : state_(seed) {}

  uint64_t Next();
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  bool OneIn(uint64_t chances) { return Below(chances) == 0; }
  // Above 0, at most 1.
  double Share() { return static_cast<double>((Next() >> 11) + 1) / 9007199254740992.0; }

 private:
  uint64_t state_;
};

// Words of our own: no persons, no companies; sites end in ".example", which nobody can own.
std::string MakeTitle(Lot& lot);      // "Notes on lock-free queues"
std::string MakeShowTitle(Lot& lot);  // "Show HN: A tiny spreadsheet that runs offline"
std::string MakeQuestion(Lot& lot);   // "Ask HN: How do you test time zones?"
std::string MakeJobTitle(Lot& lot);   // "Copperleaf is hiring a database engineer (remote)"
std::string MakeUser(Lot& lot);       // "quietheron42"
std::string MakeSite(Lot& lot);       // "lanternworks.example"
std::string MakeRemark(Lot& lot);     // A sentence or two.
std::string MakeSlug(const std::string& title);  // "notes-on-lock-free-queues"

}  // namespace hearth::sandbox
