#include "lapse/protocol/table/key_observer.hpp"

#include <atomic>

#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

AccessPlace place_of_access(const TableShard& table, Key key, Store::Reach reach) {
  const Store::Word* const word = table.store().find(key);
  if (word == nullptr) {
    // An uninitialized key is accessed at its home.
    return table.definition().homes.home(key) == table.self_domain() ? AccessPlace::main
                                                                     : AccessPlace::remote;
  }
  const SlotWord now(word->load(std::memory_order_relaxed));
  if (now.role() == Role::arriving) return AccessPlace::arriving;
  if (!table.store().is_open(*word)) return AccessPlace::remote;
  if (!now.is_copy()) return AccessPlace::main;
  return reach == Store::Reach::any ? AccessPlace::copy : AccessPlace::remote;
}

}  // namespace lapse
