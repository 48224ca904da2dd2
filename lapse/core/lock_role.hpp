// A lock that code can name without seeing it.
#pragma once

#include "lapse/core/thread_annotations.hpp"

namespace lapse {

// The rights of a lock's holder, named for clang's thread-safety analysis: the lock's owner acquires the role
// together with it, and a function that needs the lock requires the role. Free at run time. One role stands
// for the locks of all objects of a process that play it: the analysis sees that *a* progress lock is held,
// not which rank's.
class LAPSE_CAPABILITY("role") LockRole {
 public:
  // Called only by the lock's owner, after taking it and before releasing it.
  void acquire() const LAPSE_ACQUIRE() {}
  void release() const LAPSE_RELEASE() {}
  // For code whose caller holds the lock but cannot be followed by the analysis: a callback.
  void assert_held() const LAPSE_ASSERT_CAPABILITY(this) {}
};

}  // namespace lapse
