// The role of the holder of the progress lock, for classes that the holder calls.
#pragma once

#include "lapse/core/lock_role.hpp"

namespace lapse {

// Held by the thread that drives a rank's engine (ProgressEngine acquires it with its mutex). How to use it:
//   void flush() LAPSE_REQUIRES(progress_role);             a function called by the holder; overrides too
//   std::size_t frames_ LAPSE_GUARDED_BY(progress_role);    a member that only the holder touches
//   [&]() LAPSE_REQUIRES(progress_role) { ... }             a lambda for exclusively()
//   progress_role.assert_held();                            first line of a lambda kept by a std::function
inline constexpr LockRole progress_role;

}  // namespace lapse
