#include "lapse/ps/lease.hpp"

#include "lapse/core/error.hpp"
#include "lapse/ps/access/argument_checks.hpp"
#include "lapse/ps/access/lease_hold.hpp"
#include "lapse/ps/access/limited_rows.hpp"

namespace lapse {

void LeasePart::check_update(std::size_t given, std::size_t expected, float scale) const {
  const ArgumentChecks checks(holder);
  checks.count(table.state(), "update", given, expected);
  checks.scale(table.state(), scale);
}

bool LeasePart::is_limited() const {
  return table.state().definition().limits.any();
}

void LeasePart::apply_limited(std::size_t i, const std::byte* update, std::size_t elements,
                              float scale) const {
  const LimitedRows rows({table.state(), *counters, holder}, OperationKind::push,
                         std::span(keys).subspan(i, 1), update, elements);
  table.push_rule().apply(slots[i], rows.data(), elements, scale);
}

Lease::Lease(std::unique_ptr<LeaseHold> hold) : hold_(std::move(hold)) {}
Lease::Lease(Lease&& other) noexcept = default;
Lease& Lease::operator=(Lease&& other) noexcept = default;
Lease::~Lease() = default;

bool Lease::held() const {
  return hold_ && hold_->held();
}

void Lease::release() {
  if (hold_) hold_->release();
}

const LeasePart& Lease::part(const TableHandle& table) const {
  if (!held()) throw UsageError("the values of a lease that has been released");
  return hold_->part(table);
}

}  // namespace lapse
