// A worker's request to the engine to lease keys, or to release them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/protocol/table/key_failure.hpp"
#include "lapse/transport/engine/submission_queue.hpp"

namespace lapse {

class TableShard;
class WorkerEndpoint;

// Submitted to acquire the keys, and again to release those that operations or requests wait for. Filled by
// the worker; owned by the engine from submission until `finished` is true.
struct LeaseRequest : Submission {
  struct Item {
    TableShard* table = nullptr;
    Key key;
    bool operator==(const Item&) const = default;
  };

  // Keys are granted in this order: by table in the order of creation, then by key.
  static std::pair<std::uint32_t, std::uint64_t> order(const Item& item);

  // A copy of the content of a key that this rank cannot address.
  struct Copy {
    Item item;
    std::vector<std::byte> content;
  };

  // Returns where the lessee finds the content of a key that it has leased. Throws ProtocolError if the key
  // is not leased.
  std::byte* content(const Item& item);
  // The copy of a key; null if there is none.
  Copy* copy(const Item& item);

  WorkerEndpoint* worker = nullptr;
  bool releasing = false;
  std::vector<Item> items;              // ascending by table, then key; each once
  std::unique_ptr<KeyFailure> failure;  // acquiring: why it failed; then nothing is leased
  std::size_t granted = 0;              // acquiring: this many of the first items are leased
  std::vector<Copy> copies;             // of items, ascending
  std::atomic<bool> finished{true};
};

}  // namespace lapse
