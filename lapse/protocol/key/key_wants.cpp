#include "lapse/protocol/key/key_wants.hpp"

#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

bool KeyWants::wants(const TableShard& table, Key key) {
  const TableCopies* const copies = table.copies();
  return table.wanted().count(key) > 0 && !(copies != nullptr && copies->is_refused(key));
}

void KeyWants::decline(TableShard& table, Key key) {
  if (table.copies() != nullptr) table.copies()->refuse(key);
  ++table.counters().declined_copies;
}

}  // namespace lapse
