// A table as its user sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/core/types.hpp"
#include "lapse/directory/home_map.hpp"
#include "lapse/protocol/table_shard.hpp"
#include "lapse/store/element_type.hpp"
#include "lapse/store/initialiser.hpp"
#include "lapse/store/update_rule.hpp"

namespace lapse {

// What a table is to be; the same on every rank.
struct TableOptions {
  std::string name = {};   // unique on the server; empty: "table-<number>"
  std::uint64_t keys = 0;  // dense: the table has the keys 0 to keys - 1; at least 1
  bool sparse = false;     // any 64-bit key may come; `keys` stays 0
  std::size_t length = 1;  // elements of each value; at least 1
  // Elements of the value of each key, in place of `length`; pure, the same on every rank, at least 1. A
  // dense table asks once for each key and keeps 4 bytes for it; a sparse one asks at every access.
  ValueSizes::Function lengths = {};
  // Sparse tables, on each rank: how many keys it may hold or know of, and how many bytes it may take.
  // Exceeding one fails with OutOfMemory, as does a machine that runs out of memory.
  std::optional<std::uint64_t> max_keys = {};
  std::optional<std::uint64_t> memory_limit_bytes = {};
  Initialiser initialiser = {};  // values before the first push
  std::uint64_t seed = 0;        // of the initialiser
  HomeMapKind home = HomeMapKind::hash;
  // For HomeMapKind::custom: a rank in whose domain the key is at home, the same on every rank.
  HomeMap::Function home_function = {};
  UpdateRule update_rule = UpdateRule::add();  // what a push does
  std::optional<bool> location_caches = {};    // default: the server's option
};

// A cheap handle to a table of one server, valid as long as the server.
template <Element T>
class Table {
 public:
  using element = T;

  // Made by ParameterServer::create_table; `server` is who may be given the handle.
  Table(TableShard& state, const void* server)
      : state_(&state),
        server_(server),
        last_key_(state.store().last_key()),
        length_(state.store().sizes().uniform() ? state.store().sizes().layout().length : 0) {}

  TableId id() const { return state_->id(); }
  const std::string& name() const { return state_->name(); }
  bool is_sparse() const { return state_->store().is_sparse(); }
  // Number of keys of a dense table.
  std::uint64_t keys() const { return state_->store().keys(); }
  // Elements of a value; 0 when each key has its own length.
  std::size_t length() const { return length_; }
  // The same for one key. Throws KeyOutOfRange.
  std::size_t length(Key key) const {
    if (length_ != 0) return length_;
    if (key.value() > last_key_) [[unlikely]]
      throw KeyOutOfRange(name(), key, keys(), state_->definition().rank);
    return state_->store().sizes().length(key);
  }
  // Elements of state that the update rule keeps beside a value of the key.
  std::size_t state_length(Key key) const {
    return state_->store().sizes().layout().state_elements(length(key));
  }

 private:
  friend class ParameterServer;
  friend class Worker;
  friend class Lease;
  friend class LeaseKeys;

  TableShard* state_;
  const void* server_;
  std::uint64_t last_key_;
  std::size_t length_;
};

}  // namespace lapse
