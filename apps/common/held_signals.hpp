// Signals that arrive before a program can handle them.
#pragma once

namespace lapse::apps {

// Blocks SIGUSR1 and SIGUSR2, which launchers send when a job is to stop, until release_signals(): they would
// kill a program that is still starting. Call it before other threads start; threads started in between never
// receive these signals.
void hold_signals();
// Called by the main thread. Delivers pending signals.
void release_signals();

}  // namespace lapse::apps
