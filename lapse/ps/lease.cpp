#include "lapse/ps/lease.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse {

Lease::Lease(Worker& worker) : worker_(&worker), rank_(worker.rank()) {
  worker.lease_ = this;
  worker.busy_ = Worker::Busy::lease;
}

Lease::Lease(Lease&& other) noexcept
    : worker_(std::exchange(other.worker_, nullptr)), rank_(other.rank_), parts_(std::move(other.parts_)) {
  if (worker_ != nullptr) worker_->lease_ = this;
}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    if (worker_ != nullptr) worker_->abandon_lease(*this);
    worker_ = std::exchange(other.worker_, nullptr);
    rank_ = other.rank_;
    parts_ = std::move(other.parts_);
    if (worker_ != nullptr) worker_->lease_ = this;
  }
  return *this;
}

Lease::~Lease() {
  if (worker_ != nullptr) worker_->abandon_lease(*this);
}

void Lease::release() {
  if (worker_ != nullptr) worker_->end_lease(*this);
}

const Lease::Part& Lease::part(const TableShard& table) const {
  if (worker_ == nullptr) throw UsageError("the values of a lease that has been released");
  for (const Part& part : parts_) {
    if (part.table == &table) return part;
  }
  throw UsageError(fmt::format("the lease has no keys of table '{}'", table.name()));
}

}  // namespace lapse
