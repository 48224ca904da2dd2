#include "lapse/ps/access/granted_push.hpp"

#include <algorithm>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/ps/access/worker_core.hpp"

namespace lapse {

namespace {

// Keys that are reserved together.
constexpr std::size_t kMaxUnits = 1024;

}  // namespace

GrantedPush::GrantedPush(WorkerCore& core, const TableHandle& table, BoundedPush push)
    : core_(core), table_(table), push_(std::move(push)), request_(core.endpoint().grant_request()) {}

GrantedPush::~GrantedPush() {
  if (units_.empty()) return;
  request_.abandon();
  submit();
}

void GrantedPush::submit() {
  if (!request_.raise()) return;
  request_.handler = &core_.phase().protocol.budgets();
  core_.submit(request_);
}

bool GrantedPush::may_advance() const {
  return std::ranges::any_of(in_flight_, [](const InFlight& part) { return part.operation.done(); }) ||
         (!units_.empty() && request_.grants() > taken_) ||
         (request_.is_idle() && (!units_.empty() || next_ < push_.size));
}

Key GrantedPush::awaited() const {
  std::vector<bool> granted(units_.size());
  for (std::size_t i = 0; i < taken_; ++i) granted[request_.granted(i)] = true;
  const auto found = std::ranges::find(granted, false);
  const std::size_t at = found == granted.end() ? 0 : static_cast<std::size_t>(found - granted.begin());
  return units_.empty() ? push_.unit(0).key : units_[at].content.key;
}

void GrantedPush::advance() {
  change_granted();
  take_answers();
  if (!request_.is_idle()) return;
  if (!units_.empty()) waits_ += request_.waits();
  units_.clear();
  begin_units();
  change_granted();
  take_answers();
}

void GrantedPush::begin_units() {
  const double bound = core_.value_bound(table_.state());
  std::vector<GrantRequest::Item> items;
  while (next_ < push_.size && units_.size() < kMaxUnits) {
    const std::size_t first = next_;
    const BoundedPush::Unit unit = push_.unit(first);
    if (unit.magnitude > bound) ++core_.counters(table_).value_alone;
    if (unit.magnitude == 0) {
      change(first, unit.end, {});
    } else if (!core_.push_sole(table_, push_, first, unit)) {
      units_.push_back({first, unit});
      items.push_back({unit.key, unit.magnitude});
    }
    next_ = unit.end;
  }
  taken_ = 0;
  if (units_.empty()) return;
  try {
    request_.begin(table_.state(), bound, std::move(items));
  } catch (...) {
    units_.clear();
    throw;
  }
  submit();
}

void GrantedPush::change_granted() {
  if (units_.empty()) return;
  const std::size_t grants = request_.grants();
  std::vector<std::uint32_t> granted;
  for (; taken_ < grants; ++taken_) granted.push_back(request_.granted(taken_));
  std::ranges::sort(granted);
  for (std::size_t i = 0; i < granted.size();) {
    std::vector<std::uint32_t> run{granted[i]};
    while (++i < granted.size() && units_[granted[i]].first == units_[run.back()].content.end)
      run.push_back(granted[i]);
    const std::size_t first = units_[run.front()].first;
    const std::size_t end = units_[run.back()].content.end;
    change(first, end, std::move(run));
  }
}

void GrantedPush::change(std::size_t first, std::size_t end, std::vector<std::uint32_t> units) {
  try {
    Operation operation = push_.push(first, end);
    in_flight_.push_back({std::move(operation), std::move(units)});
  } catch (const OutOfMemory&) {
    // Some may be changed.
    if (!failure_) failure_ = std::current_exception();
    written(units);
  }
}

void GrantedPush::take_answers() {
  std::erase_if(in_flight_, [&](InFlight& part) {
    if (!part.operation.done()) return false;
    try {
      part.operation.wait();
    } catch (const UserCodeFailed&) {
      if (!failure_) failure_ = std::current_exception();
    } catch (const OutOfMemory&) {
      if (!failure_) failure_ = std::current_exception();
    }
    written(part.units);
    return true;
  });
}

void GrantedPush::written(const std::vector<std::uint32_t>& units) {
  if (units.empty()) return;
  for (const std::uint32_t unit : units)
    request_.written(unit, core_.need_of(table_.state(), units_[unit].content.key));
  submit();
}

}  // namespace lapse
