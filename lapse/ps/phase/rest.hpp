// Drives a rank until every rank has quiesced.
#pragma once

#include <functional>

#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/transport/engine/progress_engine.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Drives the engine until termination detection (protocol/termination_detection.hpp) finds every rank
// quiesced, and this rank has sent what other ranks need to find that too. Call it on every rank once its
// workers have returned and the protocol's termination detection has been started. Communicates with other
// ranks, by engine messages only. Calls `while_waiting`, if given, now and then before this thread sleeps.
void quiesce(RankProtocol& protocol, ProgressEngine& engine, Transport& transport,
             const std::function<void()>& while_waiting = {});

}  // namespace lapse
