// Who owns a key, read in the memory of its home without the home's help.
#pragma once

#include <cstdint>
#include <vector>

#include "lapse/protocol/table_shard.hpp"
#include "lapse/protocol/unanswered_table.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// The reads that are under way, each for one worker and key. What is read may be out of date when it comes;
// it is worth as much as any cached location: it fills the key's hint, and a wrong one costs a hop.
//
// Thread safety: the holder of the progress lock.
class OwnerLookups {
 public:
  explicit OwnerLookups(Transport& transport) : transport_(transport) {}

  // Reads the key's owner. `waiting` is where the worker's operations on the key wait meanwhile.
  void begin(TableShard& table, Key key, UnansweredKey& waiting);
  // A read has finished and its key has a hint, if it can use one. Returns what waited.
  UnansweredKey& finish(const Transport::FinishedRead& read);

 private:
  struct Reading {
    TableShard* table;
    UnansweredKey* waiting;
  };

  Transport& transport_;
  std::vector<Reading> readings_;  // by the tag of the read
  std::vector<std::uint64_t> free_;
};

}  // namespace lapse
