// The counters of a rank.
#pragma once

#include "lapse/core/progress_role.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/protocol/rank_protocol.hpp"
#include "lapse/transport/engine/progress_engine.hpp"

namespace lapse {

// Thread safety: only while no engine runs.
RankStatistics rank_statistics(const RankProtocol& protocol, const ProgressEngine& engine)
    LAPSE_REQUIRES(progress_role);

}  // namespace lapse
