// A table as its user sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "lapse/core/types.hpp"
#include "lapse/directory/home_map.hpp"
#include "lapse/protocol/table_state.hpp"
#include "lapse/store/element_type.hpp"
#include "lapse/store/initialiser.hpp"
#include "lapse/store/update_rule.hpp"

namespace lapse {

// What a table is to be; the same on every rank.
struct TableOptions {
  std::string name = {};         // unique on the server; empty: "table-<number>"
  std::uint64_t keys = 0;        // the table has the keys 0 to keys - 1; at least 1
  std::size_t length = 1;        // elements of each value; at least 1
  Initialiser initialiser = {};  // values before the first push
  std::uint64_t seed = 0;        // of the initialiser
  HomeMapKind home = HomeMapKind::hash;
  HomeMap::Function home_function =
      {};  // for HomeMapKind::custom: the home domain's number, the same on every rank
  UpdateRule update_rule = UpdateRule::add();  // what a push does
  std::optional<bool> location_caches = {};    // default: the server's option
};

// A cheap handle to a table of one server, valid as long as the server.
template <Element T>
class Table {
 public:
  using element = T;

  // Made by ParameterServer::create_table; `server` is who may be given the handle.
  Table(TableState& state, const void* server)
      : state_(&state), server_(server), keys_(state.store.keys()), length_(state.store.layout().length) {}

  TableId id() const { return state_->id; }
  const std::string& name() const { return state_->name; }
  std::uint64_t keys() const { return state_->store.keys(); }
  // Elements of a value.
  std::size_t length() const { return length_; }

 private:
  friend class ParameterServer;
  friend class Worker;

  TableState* state_;
  const void* server_;
  std::uint64_t keys_;
  std::size_t length_;
};

}  // namespace lapse
