#include "lapse/protocol/records/relocation_requests.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"

namespace lapse {

void check_requester(const TableShard& table, Key key, Domain requester, Domain owner) {
  if (owner != requester) return;
  throw ProtocolError(fmt::format("domain {} localizes key {} of table '{}', which it owns",
                                  requester.value(), key.value(), table.name()));
}

void RelocationRequests::request(TableShard& table, Key key, Domain home) {
  if (home != table.self_domain()) {
    localizes_.add(table.serving_rank(key, home), {key.value()});
    return;
  }
  const OwnershipTable::Change change = table.relocate(key, home);
  check_requester(table, key, home, change.old_owner);
  instruct(table, key, change);
}

}  // namespace lapse
