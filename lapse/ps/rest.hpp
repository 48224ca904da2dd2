// Waiting until nothing is under way on any rank.
#pragma once

#include "lapse/protocol/channel.hpp"
#include "lapse/transport/progress_engine.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Drives the engine until termination detection (protocol/quiescence.hpp) finds every rank at rest, and this
// rank has sent what others need to find it too. Called on every rank once its workers have returned; the
// channel's wave has been started. Leaves the rank to communicate, by engine messages only.
void drive_to_rest(Channel& channel, ProgressEngine& engine, Transport& transport);

}  // namespace lapse
