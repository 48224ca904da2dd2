#include "lapse/ps/lease_taker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse {

void LeaseTaker::begin(std::span<const LeaseKeys> parts) {
  for (const LeaseKeys& part : parts) {
    worker_.check_call(part.server_);
    worker_.arguments_.keys(*part.state_, part.keys_);
    worker_.arguments_.lengths(*part.state_, part.keys_);
    const auto same = [&](const LeaseKeys& other) { return other.state_ == part.state_; };
    if (std::ranges::count_if(parts, same) > 1) {
      throw UsageError(fmt::format("a lease names table '{}' more than once", part.state_->name()));
    }
  }
  parts_.assign(parts.begin(), parts.end());
  stage_ = Stage::own_operations;
}

bool LeaseTaker::may_advance() const {
  const WorkerEndpoint& endpoint = worker_.endpoint_;
  switch (stage_) {
    case Stage::own_operations:
      return endpoint.unanswered().total() == 0 || std::ranges::none_of(parts_, [&](const LeaseKeys& part) {
               return std::ranges::any_of(part.keys_, [&](Key key) {
                 return endpoint.unanswered().contains(part.state_->id(), key);
               });
             });
    case Stage::localizing:
      return std::ranges::all_of(localizes_, [](const Operation& localize) { return localize.done(); });
    case Stage::requested:
      break;
  }
  return released();
}

bool LeaseTaker::advance() {
  if (!may_advance()) return false;
  switch (stage_) {
    case Stage::own_operations:
      localize();
      return false;
    case Stage::localizing:
      request();
      return false;
    case Stage::requested:
      break;
  }
  return true;
}

void LeaseTaker::localize() {
  stage_ = Stage::localizing;
  for (const LeaseKeys& part : parts_) localizes_.push_back(worker_.begin_localize(*part.state_, part.keys_));
}

void LeaseTaker::request() {
  stage_ = Stage::requested;
  localizes_.clear();
  LeaseRequest& request = worker_.endpoint_.lease_request();
  request.items.clear();
  for (const LeaseKeys& part : parts_) {
    for (const Key key : part.keys_) request.items.push_back({part.state_, key});
  }
  // Keys often come in order, each once.
  if (!std::ranges::is_sorted(request.items, std::ranges::less_equal(), &LeaseRequest::order)) {
    std::ranges::sort(request.items, {}, &LeaseRequest::order);
    request.items.erase(std::unique(request.items.begin(), request.items.end()), request.items.end());
  }
  request.failure = nullptr;
  request.releasing = false;
  request.granted = 0;
  request.copies.clear();
  request.handler = &worker_.phase_.protocol.leases();
  request.finished.store(false, std::memory_order_relaxed);
  worker_.submit(request);
}

Lease LeaseTaker::take() {
  // What the holder will write comes after the change of the words, for whoever reads without a latch.
  std::atomic_thread_fence(std::memory_order_release);
  LeaseRequest& request = worker_.endpoint_.lease_request();
  if (request.failure) std::rethrow_exception(request.failure);
  Lease lease(worker_);
  for (const LeaseKeys& part : parts_) {
    worker_.endpoint_.counters()[part.state_->id().value()].leased_keys += part.keys_.size();
    Lease::Part& taken =
        lease.parts_.emplace_back(Lease::Part{part.state_, {part.keys_.begin(), part.keys_.end()}, {}});
    taken.contents.reserve(taken.keys.size());
    for (const Key key : taken.keys) taken.contents.push_back(request.content({part.state_, key}));
  }
  return lease;
}

void LeaseTaker::begin_release(Lease& lease) {
  LeaseRequest& request = worker_.endpoint_.lease_request();
  lease.worker_ = nullptr;
  worker_.lease_ = nullptr;
  worker_.busy_ = Worker::Busy::no;
  // Where nothing waits the keys are open at once; the engine works off the rest.
  std::erase_if(request.items, [&](const LeaseRequest::Item& item) {
    return request.copy(item) == nullptr && item.table->store().release_lease(item.key);
  });
  if (request.items.empty()) return;
  request.releasing = true;
  request.finished.store(false, std::memory_order_relaxed);
  worker_.submit(request);
}

bool LeaseTaker::released() const {
  return worker_.endpoint_.lease_request().finished.load(std::memory_order_acquire);
}

}  // namespace lapse
