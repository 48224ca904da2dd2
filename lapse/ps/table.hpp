// Tables, for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "lapse/consistency/consistency.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"
#include "lapse/directory/home_map_kind.hpp"
#include "lapse/store/update_rules/update_rule.hpp"
#include "lapse/store/values/element_type.hpp"
#include "lapse/store/values/initialiser.hpp"
#include "lapse/store/values/push_limits.hpp"

namespace lapse {

class SlotAccess;
class TableShard;

// Equal on every rank, limits included: create_table compares all of them, except what functions do.
struct TableOptions {
  std::string name = {};   // unique on the server; if empty: "table-<number>"
  std::uint64_t keys = 0;  // dense: the table has the keys 0 to keys - 1; at least 1
  bool sparse = false;     // any 64-bit key may occur; `keys` stays 0
  std::size_t length = 1;  // elements of each value; at least 1
  // Elements of each key's value, in place of `length`: pure, at least 1. A dense table calls it once for
  // each key and keeps 4 bytes for it; a sparse one calls it at every access.
  std::function<std::size_t(Key)> lengths = {};
  // Limits of a sparse table on each rank: keys that it may store or have slot words of, and the bytes that
  // it may take. An operation that would exceed one fails with OutOfMemory.
  std::optional<std::uint64_t> max_keys = {};
  std::optional<std::uint64_t> memory_limit_bytes = {};
  Initialiser initialiser = {};  // values before the first push
  std::uint64_t seed = 0;        // for the initialiser
  HomeMapKind home = HomeMapKind::hash;
  // For HomeMapKind::custom: returns a rank of the key's home domain, the same on every rank.
  HomeFunction home_function = {};
  UpdateRule update_rule = UpdateRule::add();  // what a push does
  // For float and double (docs/update-rules.md): pushes and sets with elements that are not finite; the
  // largest L2 norm of a push to a key, above 0: a larger push is scaled down.
  NotFinite not_finite = NotFinite::allow;
  std::optional<double> max_push_norm = {};
  std::optional<bool> location_caches = {};     // default: the server's option
  std::optional<Consistency> consistency = {};  // default: sequential
};

// For the library: a Table without its element type, with the constants of an access to one key in memory.
class LAPSE_EXPORT TableHandle {
 public:
  // The table's update rule, as a push to one key applies it.
  struct PushRule {
    void (*loop)(const void* parameters, std::byte* value, const std::byte* update, std::size_t elements,
                 float scale);
    const void* parameters;
    // Both are false if pushes are checked before they are applied: then the core applies them.
    bool is_add;
    bool is_direct;  // not a rule of the application
    bool accepts_scale;

    void apply(std::byte* value, const std::byte* update, std::size_t elements, float scale) const {
      loop(parameters, value, update, elements, scale);
    }
  };

  // The handle of no table. It belongs to no server, so every call refuses it.
  TableHandle() = default;
  // `server`: the owner of the table. The handle is valid for this server only.
  TableHandle(TableShard& state, const void* server);

  TableShard& state() const { return *state_; }
  SlotAccess& memory() const { return *memory_; }
  const void* server() const { return server_; }
  // The server, if accesses may bypass the core.
  const void* inlined_for() const { return inlined_for_; }
  const PushRule& push_rule() const { return push_rule_; }

  TableId id() const { return id_; }
  const std::string& name() const;
  bool is_sparse() const { return is_sparse_; }
  std::uint64_t keys() const { return last_key_ + 1; }
  bool has(Key key) const { return key.value() <= last_key_; }
  // Elements of a value; 0 if each key has its own length.
  std::size_t length() const { return length_; }
  // Elements of the value of one key. Throws KeyOutOfRange.
  std::size_t length(Key key) const {
    if (length_ != 0) [[likely]]
      return length_;
    return lengths_ != nullptr && has(key) ? lengths_[key.index()] : other_length(key);
  }
  // Elements of optimizer state beside a value of `length` elements.
  std::size_t state_elements(std::size_t length) const;

 private:
  // For a key whose length is computed. Throws KeyOutOfRange if the table cannot have the key, UsageError if
  // there is no table.
  std::size_t other_length(Key key) const;

  // Returns the table. Throws UsageError if there is none.
  const TableShard& existing() const;

  const void* server_ = nullptr;
  const void* inlined_for_ = nullptr;
  std::uint64_t last_key_ = ~std::uint64_t{0};
  std::size_t length_ = 0;
  SlotAccess* memory_ = nullptr;
  PushRule push_rule_ = {};
  TableId id_ = {};
  bool is_sparse_ = false;
  const std::uint32_t* lengths_ = nullptr;  // by key; null if they are equal or computed
  TableShard* state_ = nullptr;
};

// A cheap handle of a table of one server, valid as long as the server. An unassigned one has no keys, and
// every call that needs its table throws UsageError.
template <Element T>
class Table {
 public:
  using element = T;

  Table() = default;
  // Made by ParameterServer::create_table. The handle is valid for `server` only.
  Table(TableShard& state, const void* server) : handle_(state, server) {}

  // True if a table was assigned.
  explicit operator bool() const { return handle_.server() != nullptr; }

  TableId id() const { return handle_.id(); }
  const std::string& name() const { return handle_.name(); }
  bool is_sparse() const { return handle_.is_sparse(); }
  // Number of keys of a dense table.
  std::uint64_t keys() const { return handle_.keys(); }
  // Elements of a value; 0 if each key has its own length.
  std::size_t length() const { return handle_.length(); }
  // Elements of the value of one key. Throws KeyOutOfRange.
  std::size_t length(Key key) const { return handle_.length(key); }
  // Elements of the update rule's state beside a value of the key.
  std::size_t state_length(Key key) const { return handle_.state_elements(length(key)); }

  // For the library.
  const TableHandle& handle() const { return handle_; }

 private:
  TableHandle handle_;
};

}  // namespace lapse
