// Locks that clang checks: which lock guards a member, which one a function needs, takes or releases.
// `clang++ -fsyntax-only -Wthread-safety` reports every place that breaks what is annotated (test/lint, check
// "locks"); other compilers see nothing.
#pragma once

#if defined(__clang__)
#define LAPSE_THREAD_ANNOTATION(attribute) __attribute__((attribute))
#else
#define LAPSE_THREAD_ANNOTATION(attribute)
#endif

// A class whose objects are locks, and one whose objects hold a lock as long as they live.
#define LAPSE_CAPABILITY(name) LAPSE_THREAD_ANNOTATION(capability(name))
#define LAPSE_SCOPED_CAPABILITY LAPSE_THREAD_ANNOTATION(scoped_lockable)

// A member that is touched by the holder of the lock only.
#define LAPSE_GUARDED_BY(lock) LAPSE_THREAD_ANNOTATION(guarded_by(lock))

// A function that is called by the holder of the lock, and one that must not be.
#define LAPSE_REQUIRES(...) LAPSE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define LAPSE_EXCLUDES(...) LAPSE_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

// A function that takes the lock, takes it where it returns `result` (the first argument), or releases it.
#define LAPSE_ACQUIRE(...) LAPSE_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define LAPSE_TRY_ACQUIRE(...) LAPSE_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define LAPSE_RELEASE(...) LAPSE_THREAD_ANNOTATION(release_capability(__VA_ARGS__))

// A function after which the analysis takes the lock for held: where a caller holds it that clang cannot see.
#define LAPSE_ASSERT_CAPABILITY(...) LAPSE_THREAD_ANNOTATION(assert_capability(__VA_ARGS__))

// A function that is right for a reason that its comment gives.
#define LAPSE_NO_THREAD_SAFETY_ANALYSIS LAPSE_THREAD_ANNOTATION(no_thread_safety_analysis)
