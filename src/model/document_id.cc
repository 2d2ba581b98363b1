#include "model/document_id.h"

#include <cstdint>
#include <string_view>

namespace hearth::model {

std::string NewDocumentId(RandomSource& random) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  constexpr size_t kLength = 20;
  std::string id;
  while (id.size() < kLength) {
    // Ten characters per number: 62^10 is below 2^60.
    uint64_t number = random.Next();
    for (int i = 0; i < 10; ++i, number /= kAlphabet.size()) {
      id.push_back(kAlphabet[number % kAlphabet.size()]);
    }
  }
  return id;
}

}  // namespace hearth::model
