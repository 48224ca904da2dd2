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

// Submitted to acquire the keys, and a second time to release those behind which operations or requests have
// queued. Filled by the worker, then the engine's until `finished` is true.
struct LeaseRequest : Submission {
  struct Item {
    TableShard* table = nullptr;
    Key key;
    bool operator==(const Item&) const = default;
  };

  // By table in the order of their creation, then by key: the order in which keys are granted.
  static std::pair<std::uint32_t, std::uint64_t> order(const Item& item);

  // The content of a key that this rank cannot address.
  struct Copy {
    Item item;
    std::vector<std::byte> content;
  };

  // Where the holder finds the content of a key that it holds. Throws ProtocolError for a key that is not
  // leased.
  std::byte* content(const Item& item);
  // The copy of a key, null where there is none.
  Copy* copy(const Item& item);

  WorkerEndpoint* worker = nullptr;
  bool releasing = false;
  std::vector<Item> items;              // ascending by table, then key; each once
  std::unique_ptr<KeyFailure> failure;  // acquiring: why it could not be; nothing is held then
  std::size_t granted = 0;              // acquiring: the first so many are held
  std::vector<Copy> copies;             // of items, ascending
  std::atomic<bool> finished{true};
};

}  // namespace lapse
