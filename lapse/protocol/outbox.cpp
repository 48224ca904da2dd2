#include "lapse/protocol/outbox.hpp"

#include <cstddef>
#include <cstring>
#include <limits>

namespace lapse {

namespace {
constexpr std::size_t kFrameAlignment = 8;
}

Outbox::Outbox(Transport& transport)
    : transport_(transport),
      lanes_(transport.has_separate_bulk_lane() ? 2 : 1),
      pending_(static_cast<std::size_t>(transport.ranks()) * lanes_) {}

std::byte* Outbox::append(Rank to, const FrameHeader& header) {
  const auto lane = may_be_unordered(static_cast<FrameKind>(header.kind)) ? Transport::Lane::bulk
                                                                          : Transport::Lane::ordered;
  Pending& pending = this->pending(to, lane);
  last_ = &pending;
  const std::size_t before = pending.packet.size();
  if (pending.packet.empty()) {
    waiting_.push_back(static_cast<std::uint32_t>(&pending - pending_.data()));
    if (pending.packet.capacity() == 0) pending.packet = transport_.acquire_buffer();
  } else {
    FrameHeader& last = pending.last_header;
    if (last.same_frame(header) && last.count < std::numeric_limits<std::uint32_t>::max()) {
      ++last.count;
      std::memcpy(pending.packet.data() + pending.last_frame + offsetof(FrameHeader, count), &last.count,
                  sizeof last.count);
      return pending.packet.extend(header.record_bytes);
    }
    const std::size_t unaligned = pending.packet.size() % kFrameAlignment;
    if (unaligned != 0)
      std::memset(pending.packet.extend(kFrameAlignment - unaligned), 0, kFrameAlignment - unaligned);
  }
  if (!is_wave(static_cast<FrameKind>(header.kind))) ++counters_.frames;
  pending.before_frame = before;
  pending.last_frame = pending.packet.size();
  FrameHeader first = header;
  first.count = 1;
  pending.last_header = first;
  std::memcpy(pending.packet.extend(sizeof first), &first, sizeof first);
  return pending.packet.extend(header.record_bytes);
}

void Outbox::cancel() {
  Pending& pending = *last_;
  FrameHeader& frame = pending.last_header;
  if (--frame.count > 0) {
    std::memcpy(pending.packet.data() + pending.last_frame + offsetof(FrameHeader, count), &frame.count,
                sizeof frame.count);
    pending.packet.shrink(frame.record_bytes);
    return;
  }
  if (!is_wave(static_cast<FrameKind>(frame.kind))) --counters_.frames;
  pending.packet.shrink(pending.packet.size() - pending.before_frame);
  // Nothing continues a frame that is gone, nor the one before it, whose header is not known any more.
  frame = FrameHeader{};
}

void Outbox::flush() {
  for (const std::uint32_t position : waiting_) {
    Pending& pending = pending_[position];
    const Rank to(static_cast<std::int32_t>(position / lanes_));
    const bool bulk = lanes_ == 2 && position % lanes_ == 1;
    if (pending.packet.empty()) continue;  // All of it was taken back.
    ++counters_.packets;
    counters_.bytes += pending.packet.size();
    transport_.send(to, std::move(pending.packet), bulk ? Transport::Lane::bulk : Transport::Lane::ordered);
    pending.packet = PacketBuffer();
  }
  waiting_.clear();
}

}  // namespace lapse
