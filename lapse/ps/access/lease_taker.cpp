#include "lapse/ps/access/lease_taker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/ps/access/worker_core.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse {

LeaseTaker::LeaseTaker(Worker& worker) : LeaseTaker(worker.core()) {}

void LeaseTaker::begin(std::span<const LeaseKeys> parts) {
  for (const LeaseKeys& part : parts) worker_.admit(part.table(), part.keys());
  for (const LeaseKeys& part : parts) {
    worker_.refuse_bounded(part.table(), "lease");
    worker_.arguments().lengths(part.table().state(), part.keys());
    const auto same = [&](const LeaseKeys& other) { return &other.table().state() == &part.table().state(); };
    if (std::ranges::count_if(parts, same) > 1) {
      throw UsageError(fmt::format("a lease names table '{}' more than once", part.table().name()));
    }
  }
  parts_.assign(parts.begin(), parts.end());
  stage_ = Stage::own_operations;
}

bool LeaseTaker::may_advance() const {
  WorkerEndpoint& endpoint = worker_.endpoint();
  switch (stage_) {
    case Stage::own_operations:
      return endpoint.unanswered().total() == 0 || std::ranges::none_of(parts_, [&](const LeaseKeys& part) {
               return std::ranges::any_of(part.keys(), [&](Key key) {
                 return endpoint.unanswered().contains(part.table().id(), key);
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
  for (const LeaseKeys& part : parts_) localizes_.push_back(worker_.localize(part.table(), part.keys()));
}

void LeaseTaker::request() {
  hold_ = std::make_unique<LeaseHold>();
  stage_ = Stage::requested;
  for (Operation& localize : localizes_) {
    try {
      localize.wait();  // Returns at once: it is done.
    } catch (const UserCodeFailed&) {
      // The request below asks for the key again and gets the answer.
    } catch (const OutOfMemory&) {
      // Likewise.
    }
  }
  localizes_.clear();
  LeaseRequest& request = worker_.endpoint().lease_request();
  request.items.clear();
  for (const LeaseKeys& part : parts_) {
    for (const Key key : part.keys()) request.items.push_back({&part.table().state(), key});
  }
  // Keys are often in order and distinct.
  if (!std::ranges::is_sorted(request.items, std::ranges::less_equal(), &LeaseRequest::order)) {
    std::ranges::sort(request.items, {}, &LeaseRequest::order);
    request.items.erase(std::unique(request.items.begin(), request.items.end()), request.items.end());
  }
  request.failure = nullptr;
  request.releasing = false;
  request.granted = 0;
  request.copies.clear();
  request.finished.store(false, std::memory_order_release);
  worker_.submit_lease(request);
}

Lease LeaseTaker::take() {
  // Orders the holder's writes after the change of the slot words, for threads that read without a latch.
  std::atomic_thread_fence(std::memory_order_release);
  LeaseRequest& request = worker_.endpoint().lease_request();
  if (request.failure) request.failure->raise();
  // From here on the handle releases the keys if anything throws.
  Lease lease = worker_.hold(std::move(hold_));
  for (const LeaseKeys& part : parts_) {
    worker_.counters(part.table()).leased_keys += part.keys().size();
    for (const AccessKind kind : {AccessKind::read, AccessKind::write})
      worker_.observe_leased(part.table().state(), part.keys(), kind);
    worker_.forget_reads(part.table(), part.keys());
    LeasePart taken{.table = part.table(),
                    .holder = worker_.rank(),
                    .keys = {part.keys().begin(), part.keys().end()},
                    .slots = {},
                    .counters = &worker_.counters(part.table())};
    taken.slots.reserve(taken.keys.size());
    for (const Key key : taken.keys) taken.slots.push_back(request.content({&part.table().state(), key}));
    lease.hold()->add(std::move(taken));
  }
  return lease;
}

void LeaseTaker::begin_release(Lease& lease) {
  if (lease.held()) begin_release();
}

void LeaseTaker::begin_release() {
  worker_.let_go();
  LeaseRequest& request = worker_.endpoint().lease_request();
  // Opens keys without waiting operations at once; the engine drains the queues of the others.
  std::erase_if(request.items, [&](const LeaseRequest::Item& item) {
    return request.copy(item) == nullptr && item.table->store().release_lease(item.key);
  });
  if (request.items.empty()) return;
  request.releasing = true;
  request.finished.store(false, std::memory_order_release);
  worker_.submit_lease(request);
}

bool LeaseTaker::released() const {
  return worker_.endpoint().lease_request().finished.load(std::memory_order_acquire);
}

}  // namespace lapse
