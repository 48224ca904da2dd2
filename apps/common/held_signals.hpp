// Signals that come before a program knows what they are to do.
#pragma once

namespace lapse::apps {

// SIGUSR1 and SIGUSR2, which launchers send when a job is to stop, wait from now on until release_signals():
// they would end a program that is still starting. To be called before other threads are started; all threads
// that are started in between never take these signals themselves.
void hold_signals();
// By the main thread: what waits comes now.
void release_signals();

}  // namespace lapse::apps
