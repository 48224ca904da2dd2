// Executes operations where the key is stored, and answers them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/records/operation_records.hpp"
#include "lapse/protocol/table/key_failure.hpp"
#include "lapse/protocol/worker/operation_state.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// Thread safety: the holder of the progress lock.
//
// Guarantee: every operation is answered exactly once, to the rank it came from (I2). If user code throws or
// memory for the key cannot be allocated, the answer has the message of the exception. An operation of this
// rank is answered by writing to its memory; the caller notifies the worker.
class Execution {
 public:
  Execution(const Registry& registry, Outbox& outbox) : registry_(registry), outbox_(outbox) {}

  // Executes the operation on the key's value and optimizer state in memory, or on an uninitialized key.
  // Returns false, without effect, if the value can no longer be used: a worker of another rank of the domain
  // has leased the key, or the key has left the domain (if another rank serves it).
  [[nodiscard]] bool execute(TableShard& table, const OperationPart& part) LAPSE_REQUIRES(progress_role);
  // Like execute, for an operation of a worker of this rank on the domain's replica of the key.
  [[nodiscard]] bool execute_on_copy(TableShard& table, const OperationPart& part)
      LAPSE_REQUIRES(progress_role);
  // Executes the operation on a value and optimizer state that no other thread can access, because they have
  // just arrived or their lease has just ended.
  void execute_on(TableShard& table, const OperationPart& part, std::byte* content)
      LAPSE_REQUIRES(progress_role);

  // Bytes of the record that answers the operation.
  static std::uint32_t answer_bytes(FrameKind kind, const TableShard& table, const OperationPart& part);

 private:
  using Failed = std::unique_ptr<KeyFailure>;  // null: success

  bool execute_here(TableShard& table, const OperationPart& part) LAPSE_REQUIRES(progress_role);
  // Reads what a pull or pull_elements requests. Returns false if the key is not local or is leased.
  static bool read(Store& store, const OperationPart& part, Store::Reach reach, std::byte* to);
  void execute_uninitialized(TableShard& table, const OperationPart& part) LAPSE_REQUIRES(progress_role);
  // Executes push, set or call; stores the result of a call in result_.
  Failed change(const TableShard& table, const OperationPart& part, std::byte* content)
      LAPSE_REQUIRES(progress_role);

  // Returns space for a value or result in the answer or, for an operation of this rank, in the requester's
  // own memory; null if the requester has abandoned the operation.
  std::byte* answer_row(const TableShard& table, const OperationPart& part, FrameKind kind)
      LAPSE_REQUIRES(progress_role);
  // Bytes of an answer before the row; includes the version of the main copy if the key may have replicas.
  static std::size_t answer_head_bytes(const TableShard& table) {
    return sizeof(AnswerRecord) + (table.store().may_have_copies() ? sizeof(std::uint64_t) : 0);
  }
  // Writes the version after the operation into the answer, before the row.
  void write_version(const TableShard& table, const OperationPart& part, std::byte* row,
                     std::uint64_t version) LAPSE_REQUIRES(progress_role);
  // Header of the frame that answers the operation; valid until the next call.
  const FrameHeader& answer_header(FrameKind answer, const TableShard& table, const OperationPart& part)
      LAPSE_REQUIRES(progress_role);
  void answer_change(const TableShard& table, const OperationPart& part, const Failed& failed,
                     std::uint64_t version) LAPSE_REQUIRES(progress_role);
  void answer_failure(const TableShard& table, const OperationPart& part, const KeyFailure& failure)
      LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  FrameHeader answer_header_ LAPSE_GUARDED_BY(progress_role);  // last result of answer_header
  std::vector<std::byte> result_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
