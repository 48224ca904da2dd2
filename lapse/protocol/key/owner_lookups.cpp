#include "lapse/protocol/key/owner_lookups.hpp"

#include <bit>

#include "lapse/core/error.hpp"

namespace lapse {

void OwnerLookups::begin(TableShard& table, Key key, PinnedKey& waiting) {
  std::uint64_t tag = readings_.size();
  if (free_.empty()) {
    readings_.push_back({&table, &waiting});
  } else {
    tag = free_.back();
    free_.pop_back();
    readings_[tag] = {&table, &waiting};
  }
  ++table.counters().owner_lookups;
  reads_->begin(table.serving_rank(key, table.definition().homes.home(key)), table.exposed_owners().value(),
                table.definition().homes.index_at_home(key).value() * sizeof(OwnershipTable::Entry), tag);
}

PinnedKey& OwnerLookups::finish(const RemoteReads::Finished& read) {
  const Reading reading = readings_.at(read.tag);
  free_.push_back(read.tag);
  reading.table->remember_lookup(reading.waiting->key, std::bit_cast<OwnershipTable::Entry>(read.value));
  return *reading.waiting;
}

}  // namespace lapse
