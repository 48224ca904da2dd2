#include "lapse/ps/lease.hpp"

#include "lapse/core/error.hpp"
#include "lapse/ps/argument_checks.hpp"
#include "lapse/ps/lease_hold.hpp"

namespace lapse {

void LeasePart::check_update(std::size_t given, std::size_t expected, float scale) const {
  const ArgumentChecks checks(holder);
  checks.count(table.state(), "update", given, expected);
  checks.scale(table.state(), scale);
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
