#include "lapse/ps/mpi_calls.hpp"

#include "lapse/transport/mpi/lock.hpp"

namespace lapse {

MpiCalls::MpiCalls(MpiLock* lock) LAPSE_NO_THREAD_SAFETY_ANALYSIS : lock_(lock) {
  if (lock_ != nullptr) lock_->lock();
}

MpiCalls::~MpiCalls() LAPSE_NO_THREAD_SAFETY_ANALYSIS {
  if (lock_ != nullptr) lock_->unlock();
}

}  // namespace lapse
