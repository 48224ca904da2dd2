#include "lapse/ps/server/rank_statistics.hpp"

#include <string>
#include <vector>

#include "lapse/core/statistics/counters.hpp"
#include "lapse/protocol/host/frame_counts.hpp"

namespace lapse {

namespace {

std::vector<MessageKind> message_kinds(const RankProtocol& protocol) LAPSE_REQUIRES(progress_role) {
  std::vector<MessageKind> kinds;
  for (std::size_t kind = 0; kind < kFrameKinds; ++kind) {
    const FrameCounts& sent = protocol.sent().kinds[kind];
    const FrameCounts& received = protocol.received_kinds()[kind];
    if (sent.frames + received.frames == 0) continue;
    kinds.push_back({.name = std::string(frame_name(kind)),
                     .records_sent = sent.records,
                     .bytes_sent = sent.bytes,
                     .records_received = received.records,
                     .bytes_received = received.bytes});
  }
  return kinds;
}

TableCounters table_counters(const Registry& registry, const TableShard& table)
    LAPSE_REQUIRES(progress_role) {
  TableCounters counters = table.counters();
  for (const auto& worker : registry.workers()) {
    if (table.id().index() < worker->counters().size()) counters += worker->counted(table.id());
  }
  counters.keys_here = table.store().keys_here();
  if (table.copies() != nullptr) counters.copies_here = table.copies()->replicas().in_use();
  counters.bytes_here = table.store().content_bytes_here();
  counters.bytes_of_memory = table.memory_bytes();
  return counters;
}

}  // namespace

RankStatistics rank_statistics(const RankProtocol& protocol, const ProgressEngine& engine) {
  RankStatistics rank;
  rank.counters = {.messages_sent = protocol.sent().packets,
                   .messages_received = engine.counters().packets_received,
                   .bytes_sent = protocol.sent().bytes,
                   .bytes_received = engine.counters().bytes_received,
                   .engine_turns = engine.counters().turns,
                   .helper_turns = engine.counters().helper_turns,
                   .rounds = protocol.replication().counters().rounds};
  rank.kinds = message_kinds(protocol);
  rank.copies = protocol.replication().copies_over_time().samples();
  for (const auto& table : protocol.registry().tables())
    rank.tables.push_back(table_counters(protocol.registry(), *table));
  return rank;
}

}  // namespace lapse
