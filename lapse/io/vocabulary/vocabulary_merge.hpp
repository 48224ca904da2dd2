// One vocabulary out of those of all ranks.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"

namespace lapse::io {

// Collective: gives every rank the bytes of all ranks, in the order of ranks. Every rank gives its own; their
// lengths may differ.
using AllGather = std::function<std::vector<std::vector<std::byte>>(std::vector<std::byte>)>;

// Collective. The names of all ranks with the sums of their counts, numbered as Vocabulary::sorted does:
// equal on all ranks, and independent of how the names were divided among ranks. Every rank holds the bytes
// of all local vocabularies for a moment. Throws what all_gather throws, and ProtocolError when it gives
// damaged bytes.
LAPSE_EXPORT Vocabulary merge_vocabularies(const Vocabulary& local, const AllGather& all_gather);

}  // namespace lapse::io
