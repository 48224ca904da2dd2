// Locks that clang checks: which lock guards a member, and which one a function needs, takes or releases.
// `clang++ -fsyntax-only -Wthread-safety` reports every violation (test/lint, check "locks"); other compilers
// ignore the annotations.
#pragma once

#if defined(__clang__)
#define LAPSE_THREAD_ANNOTATION(attribute) __attribute__((attribute))
#else
#define LAPSE_THREAD_ANNOTATION(attribute)
#endif

// A class whose objects are locks, and one whose objects hold a lock during their lifetime.
#define LAPSE_CAPABILITY(name) LAPSE_THREAD_ANNOTATION(capability(name))
#define LAPSE_SCOPED_CAPABILITY LAPSE_THREAD_ANNOTATION(scoped_lockable)

// A member that only the lock's holder touches.
#define LAPSE_GUARDED_BY(lock) LAPSE_THREAD_ANNOTATION(guarded_by(lock))

// A function that requires the lock, and one that must not be called with it.
#define LAPSE_REQUIRES(...) LAPSE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define LAPSE_EXCLUDES(...) LAPSE_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

// A function that takes the lock, takes it if it returns `result` (the first argument), or releases it.
#define LAPSE_ACQUIRE(...) LAPSE_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define LAPSE_TRY_ACQUIRE(...) LAPSE_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define LAPSE_RELEASE(...) LAPSE_THREAD_ANNOTATION(release_capability(__VA_ARGS__))

// A function after which the analysis assumes the lock, for callers that hold it invisibly to clang.
#define LAPSE_ASSERT_CAPABILITY(...) LAPSE_THREAD_ANNOTATION(assert_capability(__VA_ARGS__))

// A function that is correct for a reason that its comment gives.
#define LAPSE_NO_THREAD_SAFETY_ANALYSIS LAPSE_THREAD_ANNOTATION(no_thread_safety_analysis)
