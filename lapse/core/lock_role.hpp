// A lock that code can mention without seeing it.
#pragma once

#include "lapse/core/thread_annotations.hpp"

namespace lapse {

// What the holder of a lock may do, as a name for clang's thread-safety analysis: the owner of the lock
// acquires the role together with it, and a function that needs the lock held requires the role. Costs
// nothing at run time. One role stands for the locks of all objects of a process that play it: the analysis
// sees that *a* progress lock is held, not the progress lock of which rank.
class LAPSE_CAPABILITY("role") LockRole {
 public:
  // By the owner of the lock only, when it has taken it and before it releases it.
  void acquire() const LAPSE_ACQUIRE() {}
  void release() const LAPSE_RELEASE() {}
  // Where the lock is held by a caller that the analysis cannot follow: in a callback.
  void assert_held() const LAPSE_ASSERT_CAPABILITY(this) {}
};

}  // namespace lapse
