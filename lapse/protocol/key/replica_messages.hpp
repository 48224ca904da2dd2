// Messages between the holders of replicas and the owner of the main copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/directory/router.hpp"
#include "lapse/protocol/host/credits.hpp"
#include "lapse/protocol/host/frame_kinds.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/table/key_queue.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// Thread safety: the holder of the progress lock.
class ReplicaMessages {
 public:
  using CopyMessage = KeyQueue::CopyMessage;

  ReplicaMessages(std::int32_t ranks, Outbox& outbox, const Router& router)
      : outbox_(outbox), router_(router), credits_(ranks) {}

  // Where a message to the owner enters: at the home or, if allowed, at the last known owner.
  enum class Entry : std::uint8_t { home, any };
  struct Path {
    Rank to;
    bool by_home;
  };
  Path path_to_owner(TableShard& table, Key key, Domain owner, Entry entry) const
      LAPSE_REQUIRES(progress_role);
  std::byte* append_to_owner(TableShard& table, FrameKind kind, const Path& path, std::size_t bytes)
      LAPSE_REQUIRES(progress_role);
  template <class Record>
  void send_to_owner(TableShard& table, FrameKind kind, const Path& path, const Record& record)
      LAPSE_REQUIRES(progress_role) {
    write_record(append_to_owner(table, kind, path, sizeof record), record);
  }
  // Sends a message that consists of the key alone to any domain.
  void send_record(TableShard& table, FrameKind kind, Key key, Domain to, std::uint16_t flags = 0)
      LAPSE_REQUIRES(progress_role);
  void forward_to_home(TableShard& table, Key key, const CopyMessage& message) LAPSE_REQUIRES(progress_role);

  // Flow control of REFRESH and DELTA.
  Credits& credits() LAPSE_REQUIRES(progress_role) { return credits_; }
  Outbox& outbox() { return outbox_; }

  // Throws ProtocolError: the role of the key does not fit the message.
  [[noreturn]] static void throw_unexpected(const TableShard& table, Key key, std::string_view message);

 private:
  Outbox& outbox_;
  const Router& router_;
  Credits credits_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
