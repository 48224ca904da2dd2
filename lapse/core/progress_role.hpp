// The role of the progress lock's holder, for classes that the holder calls.
#pragma once

#include "lapse/core/lock_role.hpp"

namespace lapse {

// Held by the thread that drives a rank's engine (ProgressEngine acquires it with its mutex). How to use it:
// A function called by the holder; overrides repeat it:
//   void flush() LAPSE_REQUIRES(progress_role);
// A member that only the holder touches:
//   std::size_t frames_ LAPSE_GUARDED_BY(progress_role);
// A lambda for exclusively():
//   [&]() LAPSE_REQUIRES(progress_role) { ... }
// The first line of a callback that a std::function keeps, and of a caller while no engine runs:
//   progress_role.assert_held();
inline constexpr LockRole progress_role;

}  // namespace lapse
