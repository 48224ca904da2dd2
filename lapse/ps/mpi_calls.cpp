#include "lapse/ps/mpi_calls.hpp"

#include <thread>

#include "lapse/transport/mpi/library/lock.hpp"

namespace lapse {

MpiCalls::MpiCalls(MpiLock* lock) LAPSE_NO_THREAD_SAFETY_ANALYSIS : lock_(lock) {
  if (lock_ == nullptr) return;
  lock_->lock();
  MpiLock::set_application_thread(std::this_thread::get_id());
}

MpiCalls::~MpiCalls() LAPSE_NO_THREAD_SAFETY_ANALYSIS {
  if (lock_ == nullptr) return;
  MpiLock::set_application_thread({});
  lock_->unlock();
}

bool MpiCalls::held_here() {
  return MpiLock::is_application_thread();
}

}  // namespace lapse
