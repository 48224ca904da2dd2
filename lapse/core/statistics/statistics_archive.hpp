// Storage of statistics in archives: see lapse/ps/agreement/archive.hpp.
#pragma once

#include "lapse/core/statistics.hpp"
#include "lapse/core/statistics/counters.hpp"

namespace lapse {

template <class Archive>
void serialize(Archive& archive, MessageKind& kind, unsigned) {
  archive& kind.name& kind.records_sent& kind.bytes_sent& kind.records_received& kind.bytes_received;
}

template <class Archive>
void serialize(Archive& archive, CopySample& sample, unsigned) {
  archive& sample.seconds& sample.copies;
}

template <class Archive>
void serialize(Archive& archive, RankStatistics& rank, unsigned) {
  archive& rank.counters& rank.tables& rank.kinds& rank.copies;
}

}  // namespace lapse
