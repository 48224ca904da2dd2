// Merges the vocabularies of all ranks into one.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"

namespace lapse::io {

// Collective: every rank passes its bytes, of any length, and gets the bytes of all ranks, in rank order.
using AllGather = std::function<std::vector<std::vector<std::byte>>(std::vector<std::byte>)>;

// Collective. The names of all ranks with the sums of their counts, numbered as Vocabulary::sorted does:
// equal on all ranks, and independent of how the names were divided among ranks. Every rank temporarily holds
// the bytes of all local vocabularies. Throws what all_gather throws, and ProtocolError for damaged bytes.
LAPSE_EXPORT Vocabulary merge_vocabularies(const Vocabulary& local, const AllGather& all_gather);

}  // namespace lapse::io
