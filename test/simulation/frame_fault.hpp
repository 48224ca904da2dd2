// Faults of the protocol, made by changing received records. The library contains no code for them.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>

#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/table/table_copies.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse::test {

// One received record, or a whole received frame of a run of operations. A fault may change it, its header,
// or the key's state before and after it is handled, as if the library's code did so.
struct ReceivedRecord {
  TableShard& table;
  FrameHeader& header;
  std::byte* bytes;
  Key key;  // of all records except answers

  FrameKind kind() const { return static_cast<FrameKind>(header.kind); }
  Role role() const { return table.store().word(key).role(); }
  TableCopies& copies() const { return *table.copies(); }
  Replica& replica() const LAPSE_REQUIRES(progress_role) { return copies().replica(key); }
  // The value of a replica, or of an announced one that has no value yet.
  std::byte* slot() const LAPSE_REQUIRES(progress_role) {
    return table.store().address({replica().slot, false});
  }
  template <class Record>
  Record as() const {
    Record record;
    std::memcpy(&record, bytes, sizeof record);
    return record;
  }
  template <class Record>
  void write(const Record& record) const {
    std::memcpy(bytes, &record, sizeof record);
  }
};

// Restricts the fault to tables that may be replicated.
struct FrameFault {
  // Returns false to drop the record.
  std::function<bool(ReceivedRecord&)> before = [](ReceivedRecord&) { return true; };
  std::function<void(ReceivedRecord&)> after = [](ReceivedRecord&) {};
};

// Delivers the packet, record by record, with the fault. `table(header)` returns null if the fault does not
// affect the frame.
void deliver_with_fault(const FrameFault& fault, std::span<const std::byte> packet,
                        const std::function<TableShard*(const FrameHeader&)>& table,
                        const std::function<void(std::span<const std::byte>)>& handle);

}  // namespace lapse::test
