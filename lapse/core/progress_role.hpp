// The progress lock, for those who are called by its holder.
#pragma once

#include "lapse/core/lock_role.hpp"

namespace lapse {

// Held by the thread that drives a rank's engine (ProgressEngine acquires it with its mutex). How to use it:
//   void flush() LAPSE_REQUIRES(progress_role);            a function called by the holder; overrides repeat
//   it std::size_t frames_ LAPSE_GUARDED_BY(progress_role);   a member that only the holder touches
//   [&]() LAPSE_REQUIRES(progress_role) { ... }            a lambda for exclusively();
//   progress_role.assert_held()
//                                                          as the first line of one that a std::function
//                                                          keeps
inline constexpr LockRole progress_role;

}  // namespace lapse
