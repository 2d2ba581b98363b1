#include "index/index_use.h"

#include <array>

#include "base/status_macros.h"

namespace hearth::index {

std::string EncodeIndexUse(const Activity& activity) {
  const std::array<uint64_t, 8> numbers = {static_cast<uint64_t>(activity.created_micros.load()),
                                           activity.uses,
                                           activity.reads_saved,
                                           activity.reads_without,
                                           activity.document_writes,
                                           activity.entries_written,
                                           static_cast<uint64_t>(activity.score.load()),
                                           static_cast<uint64_t>(activity.scored_at_micros.load())};
  std::string bytes;
  for (const uint64_t number : numbers) bytes += model::EncodeUint64(number);
  return bytes;
}

Status DecodeIndexUse(std::string_view bytes, Activity* activity) {
  std::array<uint64_t, 8> numbers = {};
  if (bytes.size() != sizeof(numbers)) {
    return Status(Code::kDataLoss, "the stored use of an index is damaged");
  }
  for (uint64_t& number : numbers) {
    ASSIGN_OR_RETURN(number, model::DecodeUint64(bytes.substr(0, sizeof(number))));
    bytes.remove_prefix(sizeof(number));
  }
  activity->created_micros = static_cast<int64_t>(numbers[0]);
  activity->uses = numbers[1];
  activity->reads_saved = activity->scored_reads_saved = numbers[2];
  activity->reads_without = numbers[3];
  activity->document_writes = numbers[4];
  activity->entries_written = activity->scored_entries = numbers[5];
  activity->score = static_cast<int64_t>(numbers[6]);
  activity->scored_at_micros = static_cast<int64_t>(numbers[7]);
  return Status();
}

}  // namespace hearth::index
