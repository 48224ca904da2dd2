#include "lapse/ps/mpi_calls.hpp"

#include <atomic>
#include <thread>

#include "lapse/transport/mpi/lock.hpp"

namespace lapse {

namespace {

// The thread that has the lock by MpiCalls: there is one at most.
std::atomic<std::thread::id> holder;

}  // namespace

MpiCalls::MpiCalls(MpiLock* lock) LAPSE_NO_THREAD_SAFETY_ANALYSIS : lock_(lock) {
  if (lock_ == nullptr) return;
  lock_->lock();
  holder.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

MpiCalls::~MpiCalls() LAPSE_NO_THREAD_SAFETY_ANALYSIS {
  if (lock_ == nullptr) return;
  holder.store({}, std::memory_order_relaxed);
  lock_->unlock();
}

bool MpiCalls::held_here() {
  return holder.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

}  // namespace lapse
