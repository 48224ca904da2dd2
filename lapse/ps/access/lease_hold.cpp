#include "lapse/ps/access/lease_hold.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"
#include "lapse/ps/access/worker_core.hpp"

namespace lapse {

LeaseHold::~LeaseHold() {
  if (worker_ != nullptr && !worker_->is_left()) worker_->abandon_lease();
}

void LeaseHold::release() {
  if (worker_ != nullptr && !worker_->is_left()) worker_->end_lease();
}

const LeasePart& LeaseHold::part(const TableHandle& table) const {
  if (worker_ != nullptr) worker_->check_life();
  for (const LeasePart& part : parts_) {
    if (part.table.server() == table.server() && part.table.id() == table.id()) return part;
  }
  throw UsageError(fmt::format("the lease has no keys of table '{}'", table.name()));
}

}  // namespace lapse
