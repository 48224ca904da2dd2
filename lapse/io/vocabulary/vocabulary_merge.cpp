#include "lapse/io/vocabulary/vocabulary_merge.hpp"

namespace lapse::io {

Vocabulary merge_vocabularies(const Vocabulary& local, const AllGather& all_gather) {
  Vocabulary all;
  for (std::vector<std::byte>& bytes : all_gather(local.to_bytes())) {
    all.add_bytes(bytes);
    bytes = {};
  }
  return all.sorted();
}

}  // namespace lapse::io
