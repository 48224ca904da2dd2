// Sends operations to the rank that serves their key.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/core/progress_role.hpp"
#include "lapse/directory/router.hpp"
#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/table/operation_part.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// Thread safety: the holder of the progress lock.
class OperationSender {
 public:
  OperationSender(Outbox& outbox, const Router& router) : outbox_(outbox), router_(router) {}

  // Sends the operation along a route of action send.
  void send(TableShard& table, const OperationPart& part, const Route& route) LAPSE_REQUIRES(progress_role);
  // Sends a queued operation to the key's home, after the key has left this domain. Throws ProtocolError if
  // this domain has the key.
  void forward_to_home(TableShard& table, const OperationPart& part) LAPSE_REQUIRES(progress_role);

  // Bytes of the record that carries the operation.
  static std::uint32_t operation_bytes(const TableShard& table, const OperationPart& part);
  // Bytes of part.value.
  static std::size_t update_bytes(const TableShard& table, const OperationPart& part);
  [[noreturn]] static void throw_misrouted(const TableShard& table, const OperationPart& part);

 private:
  // Header of the frame that carries the operation; valid until the next call.
  const FrameHeader& header_of(const TableShard& table, const OperationPart& part, bool by_home)
      LAPSE_REQUIRES(progress_role);

  Outbox& outbox_;
  const Router& router_;
  FrameHeader header_ LAPSE_GUARDED_BY(progress_role);  // last result of header_of
};

}  // namespace lapse
