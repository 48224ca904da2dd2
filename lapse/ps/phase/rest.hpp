// Driving a rank until every rank has quiesced.
#pragma once

#include <functional>

#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/transport/engine/progress_engine.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Drives the engine until termination detection (protocol/termination_detection.hpp) finds every rank
// quiesced and this rank has sent what other ranks need to find that too. Called on every rank once its
// workers have returned and the protocol's termination detection has been started. Leaves the rank to
// communicate, by engine messages only. `while_waiting`, where there is one, is called now and then before
// this thread sleeps.
void quiesce(RankProtocol& protocol, ProgressEngine& engine, Transport& transport,
             const std::function<void()>& while_waiting = {});

}  // namespace lapse
