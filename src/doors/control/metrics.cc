#include "doors/control/metrics.h"

#include <chrono>
#include <cstdint>
#include <sstream>
#include <string_view>

namespace hearth::doors::control {
namespace {

// A label's value, with the three characters escaped that the format knows an escape for.
std::string Label(std::string_view value) {
  std::string quoted = "\"";
  for (const char each : value) {
    if (each == '\n') {
      quoted += "\\n";
    } else {
      if (each == '"' || each == '\\') quoted += '\\';
      quoted += each;
    }
  }
  return quoted + '"';
}

void AppendHead(std::string_view name, std::string_view type, std::string_view help,
                std::ostringstream* out) {
  *out << "# HELP " << name << ' ' << help << "\n# TYPE " << name << ' ' << type << '\n';
}

}  // namespace

std::string MetricsText(const engine::Engine& engine) {
  std::ostringstream late;
  std::ostringstream deleted;
  AppendHead("hearth_ttl_late_seconds", "gauge",
             "By how much the oldest expired document that is still there has outlived its time.",
             &late);
  AppendHead("hearth_ttl_deleted_total", "counter", "Expired documents deleted since the start.",
             &deleted);
  uint64_t ready = 0;
  uint64_t building = 0;
  uint64_t bytes = 0;
  for (const documents::Database* database : engine.Databases()) {
    for (const expiry::TtlStatus& status : engine.TtlStatuses(*database)) {
      const std::string labels = "{project=" + Label(database->name.project()) +
                                 ",database=" + Label(database->name.database()) +
                                 ",collection_group=" + Label(status.policy.collection_group) +
                                 "} ";
      late << "hearth_ttl_late_seconds" << labels
           << std::chrono::duration<double>(status.late).count() << '\n';
      deleted << "hearth_ttl_deleted_total" << labels << status.deleted << '\n';
    }
    for (const index::Index& index : engine.Indexes(*database)) {
      ++(index.state == index::State::kReady ? ready : building);
      bytes += engine.IndexBytes(index);
    }
  }
  std::ostringstream indexes;
  AppendHead("hearth_indexes", "gauge", "Indexes by state.", &indexes);
  indexes << "hearth_indexes{state=\"building\"} " << building << '\n'
          << "hearth_indexes{state=\"ready\"} " << ready << '\n';
  AppendHead("hearth_index_bytes", "gauge", "About how many bytes the indexes take up.", &indexes);
  indexes << "hearth_index_bytes " << bytes << '\n';
  return late.str() + deleted.str() + indexes.str();
}

}  // namespace hearth::doors::control
