// The messages by which a domain requests keys.
#pragma once

#include <cstdint>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/records_by_rank.hpp"
#include "lapse/protocol/records/relocation_records.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// Collects the messages about the keys of a run and sends them together: LOCALIZE to the homes of keys, and
// INSTRUCT to the owners of keys whose home is this domain.
//
// Thread safety: the holder of the progress lock.
class RelocationRequests {
 public:
  explicit RelocationRequests(std::int32_t ranks) : localizes_(ranks), instructs_(ranks) {}

  // Drops what an error has left unsent.
  void begin() LAPSE_REQUIRES(progress_role) {
    localizes_.clear();
    instructs_.clear();
  }
  // This domain requests a key that is absent here.
  void request(TableShard& table, Key key, Domain home) LAPSE_REQUIRES(progress_role);
  // At the home of the key, which another domain owns: it goes to the domain that send() names.
  void instruct(const TableShard& table, Key key, const OwnershipTable::Change& change)
      LAPSE_REQUIRES(progress_role) {
    instructs_.add(table.serving_rank(key, change.old_owner), {key.value(), change.relocations});
  }
  // Appends all messages. INSTRUCTs are for `requester`.
  void send(Outbox& outbox, const TableShard& table, Domain requester) LAPSE_REQUIRES(progress_role) {
    localizes_.append_to(outbox, relocation_header(FrameKind::localize, table, requester));
    instructs_.append_to(outbox, relocation_header(FrameKind::instruct, table, requester));
  }

 private:
  RecordsByRank<LocalizeRecord> localizes_;
  RecordsByRank<InstructRecord> instructs_;
};

// Throws ProtocolError if the domain that localizes the key owns it already.
void check_requester(const TableShard& table, Key key, Domain requester, Domain owner);

}  // namespace lapse
