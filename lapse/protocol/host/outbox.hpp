// Collects the records that an engine turn sends: one packet per destination, or several full ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/frame_counts.hpp"
#include "lapse/protocol/host/frame_table.hpp"
#include "lapse/protocol/host/quiescence.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

struct OutboxCounters {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t frames = 0;      // excludes those of termination detection
  FrameCountsByKind kinds = {};  // of packets that were sent
};

// Thread safety: the holder of the progress lock.
// Guarantees:
// 1. Records for one destination are sent in the order in which they were appended, except that frames of the
//    free lane take the bulk lane if the transport has one.
// 2. A packet has at most Transport::packet_bytes() bytes (less in a transport-owned buffer), unless a single
//    record has more. A full packet is sent when the next record for its destination is appended: while an
//    operation on many keys is executed, its first packets are already in flight. So the last record can
//    always be cancelled.
// 3. If memory for records cannot be allocated (std::bad_alloc), none of them is appended.
class Outbox {
 public:
  // `frames` stores how each kind travels; it may be filled later.
  Outbox(Transport& transport, const FrameTable& frames);

  // Returns space for one record at the end of the packet for `to`, valid until the next append. Continues
  // the last frame if all of the header but its count is equal and the packet has space.
  std::byte* append(Rank to, const FrameHeader& header) LAPSE_REQUIRES(progress_role);

  // Records at the end of a packet.
  struct Run {
    std::byte* records;
    std::uint32_t count;
  };
  // Like append, for as many of the next `count` records as the packet has space for, at least one. Before
  // the next append, the caller either fills them, by a few large copies (Fill::blocks) or record by record,
  // or cancels them.
  enum class Fill : std::uint8_t { records, blocks };
  Run append_run(Rank to, const FrameHeader& header, std::uint32_t count, Fill fill = Fill::records)
      LAPSE_REQUIRES(progress_role);

  // For a record that must be sent although memory to append it could not be allocated. The next record that
  // is appended with this header is stored in `packet`, which has space for it. Sends what was appended for
  // `to` before.
  void begin_packet_in(PacketBuffer packet, Rank to, const FrameHeader& header) LAPSE_REQUIRES(progress_role);

  // Removes the last `records` records of the last append; they are not sent.
  void cancel(std::uint32_t records = 1) LAPSE_REQUIRES(progress_role);

  template <class Record>
  void append_record(Rank to, FrameHeader header, const Record& record) LAPSE_REQUIRES(progress_role) {
    header.record_bytes = sizeof(Record);
    write_record(append(to, header), record);
  }

  // Sends packets of at least `bytes` bytes in the middle of a turn. In long turns, this lets other ranks
  // begin meanwhile.
  void send_early(std::size_t bytes = 1) LAPSE_REQUIRES(progress_role);
  // Sends all packets.
  void flush() LAPSE_REQUIRES(progress_role);
  // Like flush, but leaves small packets to ranks to which packets are costly (Transport::is_costly) and
  // others are in flight: what follows them soon leaves with them. Returns whether it left any; the next
  // flush sends them.
  bool flush_or_gather() LAPSE_REQUIRES(progress_role);
  // A packet from this rank has arrived.
  void heard_from(Rank from) LAPSE_REQUIRES(progress_role) {
    Pending& ordered = pending_[from.index() * lanes_];
    if (ordered.in_flight > 0) --ordered.in_flight;
  }
  bool empty() const LAPSE_REQUIRES(progress_role) { return waiting_.empty(); }
  // Begins the frames of a new cut (QuiescenceCounts), after sending all packets.
  void set_cut(CutNumber cut) LAPSE_REQUIRES(progress_role);

  const OutboxCounters& counters() const { return counters_; }

 private:
  struct Pending {
    PacketBuffer packet;
    std::size_t full = 0;          // largest packet that may go to this rank
    std::size_t limit = 0;         // on the bytes of this packet
    std::size_t before_frame = 0;  // bytes before the last frame
    std::size_t last_frame = 0;    // offset of its header, after padding
    FrameHeader last_header;       // a copy of it, without the flags of the cut
    bool waiting = false;          // its position is in waiting_
    bool is_costly = false;        // Transport::is_costly
    std::uint32_t in_flight = 0;   // costly packets sent, less the packets that have arrived from the rank
  };

  Pending& pending(Rank to, const FrameHeader& header) LAPSE_REQUIRES(progress_role) {
    return pending_[to.index() * lanes_ + (frames_.is_free(header.kind) ? lanes_ - 1 : 0)];
  }
  // Returns whether the packet's last frame can take a further record with this header. If not, sends a
  // packet that has no space for a frame of one record.
  bool continues_frame(Pending& pending, const FrameHeader& header) LAPSE_REQUIRES(progress_role);
  // Gives the packet a buffer if it has none, suited to a frame of `count` records.
  void begin_packet(Pending& pending, const FrameHeader& header, std::uint32_t count, Fill fill)
      LAPSE_REQUIRES(progress_role);
  std::byte* begin_frame(Pending& pending, const FrameHeader& header, std::uint32_t count)
      LAPSE_REQUIRES(progress_role);
  void set_count(Pending& pending, std::uint32_t count) LAPSE_REQUIRES(progress_role);
  // Adds the packet's last frame to the counters; it must be complete.
  void count_last_frame(const Pending& pending) LAPSE_REQUIRES(progress_role);
  void send(Pending& pending) LAPSE_REQUIRES(progress_role);
  Rank rank_of(const Pending& pending) const LAPSE_REQUIRES(progress_role) {
    return Rank(static_cast<std::int32_t>(position_of(pending) >> (lanes_ - 1)));
  }
  Transport::Lane lane_of(const Pending& pending) const LAPSE_REQUIRES(progress_role) {
    return (position_of(pending) & (lanes_ - 1)) == 1 ? Transport::Lane::bulk : Transport::Lane::ordered;
  }
  std::size_t position_of(const Pending& pending) const LAPSE_REQUIRES(progress_role) {
    return static_cast<std::size_t>(&pending - pending_.data());
  }
  // Sends a packet in the middle of a turn.
  void send_in_turn(Pending& pending) LAPSE_REQUIRES(progress_role);

  Transport& transport_;
  const FrameTable& frames_;
  std::size_t lanes_;  // 1 or 2

  std::vector<Pending> pending_ LAPSE_GUARDED_BY(progress_role);  // by rank and lane
  // Positions in pending_ used in this turn, in order of first use.
  std::vector<std::uint32_t> waiting_ LAPSE_GUARDED_BY(progress_role);
  Pending* last_ LAPSE_GUARDED_BY(progress_role) = nullptr;  // the packet with the last record
  OutboxCounters counters_ LAPSE_GUARDED_BY(progress_role);
  CutNumber cut_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
