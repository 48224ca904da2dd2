#include "lapse/protocol/host/outbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <limits>
#include <utility>

#include "lapse/core/exception_text.hpp"

namespace lapse {

namespace {
constexpr std::size_t kFrameAlignment = 8;
// Copies of at least this size are written directly to the transport's buffer. Smaller ones are gathered in
// this processor's cache and then copied at once: memory that other processors have read last is slow to
// write in pieces.
constexpr std::size_t kInPlaceBytes = 1024;
// With that many packets to a rank in flight, further ones are gathered, up to a size worth sending alone.
constexpr std::uint32_t kEnoughInFlight = 2;
constexpr std::size_t kGatheredBytes = std::size_t{16} << 10;
}  // namespace

Outbox::Outbox(Transport& transport, const FrameTable& frames)
    : transport_(transport),
      frames_(frames),
      lanes_(transport.has_separate_bulk_lane() ? 2 : 1),
      pending_(static_cast<std::size_t>(transport.ranks()) * lanes_) {
  for (Pending& pending : pending_) {
    pending.full = transport.packet_bytes(rank_of(pending));
    pending.is_costly = transport.is_costly(rank_of(pending));
  }
  // Appending a record allocates memory for its packet only.
  waiting_.reserve(pending_.size());
}

bool Outbox::continues_frame(Pending& pending, const FrameHeader& header) {
  if (pending.packet.empty()) return false;
  const FrameHeader& last = pending.last_header;
  const bool same_frame = last.same_frame(header) && last.count < std::numeric_limits<std::uint32_t>::max();
  const std::size_t bytes =
      same_frame ? header.record_bytes : kFrameAlignment - 1 + sizeof header + header.record_bytes;
  if (pending.packet.size() + bytes <= pending.limit) return same_frame;
  send_in_turn(pending);
  return false;
}

std::byte* Outbox::append(Rank to, const FrameHeader& header) {
  Pending& pending = this->pending(to, header);
  last_ = &pending;
  if (!continues_frame(pending, header)) {
    begin_packet(pending, header, 1, Fill::records);
    return begin_frame(pending, header, 1);
  }
  std::byte* const record = pending.packet.extend(header.record_bytes);
  set_count(pending, pending.last_header.count + 1);
  return record;
}

Outbox::Run Outbox::append_run(Rank to, const FrameHeader& header, std::uint32_t count, Fill fill) {
  Pending& pending = this->pending(to, header);
  last_ = &pending;
  const bool same_frame = continues_frame(pending, header);
  begin_packet(pending, header, count, fill);
  if (header.record_bytes != 0) {
    const std::size_t used =
        pending.packet.size() + (same_frame ? 0 : kFrameAlignment - 1 + sizeof(FrameHeader));
    const std::size_t room = pending.limit > used ? (pending.limit - used) / header.record_bytes : 0;
    count = static_cast<std::uint32_t>(std::clamp<std::size_t>(room, 1, count));
  }
  if (!same_frame) return {begin_frame(pending, header, count), count};
  count = std::min(count, std::numeric_limits<std::uint32_t>::max() - pending.last_header.count);
  std::byte* const records = pending.packet.extend(std::size_t{count} * header.record_bytes);
  set_count(pending, pending.last_header.count + count);
  return {records, count};
}

void Outbox::begin_packet_in(PacketBuffer packet, Rank to, const FrameHeader& header) {
  Pending& pending = this->pending(to, header);
  if (!pending.packet.empty()) send_in_turn(pending);
  pending.packet = std::move(packet);
  pending.limit = pending.full;
}

void Outbox::set_count(Pending& pending, std::uint32_t count) {
  pending.last_header.count = count;
  std::memcpy(pending.packet.data() + pending.last_frame + offsetof(FrameHeader, count), &count,
              sizeof count);
}

void Outbox::begin_packet(Pending& pending, const FrameHeader& header, std::uint32_t count, Fill fill) {
  if (pending.packet.capacity() != 0) return;
  pending.limit = pending.full;
  const std::size_t copied = header.record_bytes * std::size_t{fill == Fill::blocks ? count : 1};
  if (copied < kInPlaceBytes) {
    pending.packet = transport_.acquire_buffer();
    return;
  }
  const std::size_t one = kFrameAlignment - 1 + sizeof header + header.record_bytes;
  const std::size_t all = one + std::size_t{count - 1} * header.record_bytes;
  pending.packet =
      transport_.begin_packet(rank_of(pending), lane_of(pending), std::max(one, std::min(all, pending.full)));
  if (pending.packet.in_place()) pending.limit = std::min(pending.full, pending.packet.capacity());
}

std::byte* Outbox::begin_frame(Pending& pending, const FrameHeader& header, std::uint32_t count) {
  if (!pending.waiting) {
    waiting_.push_back(static_cast<std::uint32_t>(position_of(pending)));
    pending.waiting = true;
  }
  const std::size_t before = pending.packet.size();
  count_last_frame(pending);
  const std::size_t padding = (kFrameAlignment - before % kFrameAlignment) % kFrameAlignment;
  FrameHeader first = header;
  first.count = count;
  std::byte* const frame =
      pending.packet.extend(padding + sizeof first + std::size_t{count} * header.record_bytes);
  std::memset(frame, 0, padding);
  pending.last_header = first;
  first.flags |= cut_.flags();
  std::memcpy(frame + padding, &first, sizeof first);
  if (frames_.is_counted(header.kind)) ++counters_.frames;
  pending.before_frame = before;
  pending.last_frame = before + padding;
  return frame + padding + sizeof first;
}

void Outbox::count_last_frame(const Pending& pending) {
  const FrameHeader& last = pending.last_header;
  if (pending.packet.empty() || last.count == 0) return;
  counters_.kinds[last.kind].add(last.count, pending.packet.size() - pending.before_frame);
}

void Outbox::cancel(std::uint32_t records) {
  Pending& pending = *last_;
  FrameHeader& frame = pending.last_header;
  if (frame.count > records) {
    set_count(pending, frame.count - records);
    pending.packet.shrink(std::size_t{records} * frame.record_bytes);
    return;
  }
  if (frames_.is_counted(frame.kind)) --counters_.frames;
  pending.packet.shrink(pending.packet.size() - pending.before_frame);
  // No record may continue the removed frame, nor the frame before it, whose header is no longer stored.
  frame = FrameHeader{};
}

void Outbox::send(Pending& pending) {
  ++counters_.packets;
  counters_.bytes += pending.packet.size();
  count_last_frame(pending);
  if (pending.is_costly) ++pending.in_flight;
  transport_.send(rank_of(pending), std::move(pending.packet), lane_of(pending));
  pending.packet = PacketBuffer();
}

void Outbox::send_in_turn(Pending& pending) {
  try {
    send(pending);
  } catch (...) {
    // Like at the end of a turn: the packet is lost, and no other rank can be notified.
    transport_.abort(fmt::format("communication failed: {}", text_of(std::current_exception())));
  }
}

void Outbox::send_early(std::size_t bytes) {
  for (const std::uint32_t position : waiting_) {
    if (pending_[position].packet.size() >= bytes) send_in_turn(pending_[position]);
  }
}

void Outbox::set_cut(CutNumber cut) {
  send_early();
  cut_ = cut;
}

void Outbox::flush() {
  for (const std::uint32_t position : waiting_) {
    Pending& pending = pending_[position];
    pending.waiting = false;
    if (!pending.packet.empty()) send(pending);  // All of it may have been cancelled.
  }
  waiting_.clear();
}

bool Outbox::flush_or_gather() {
  std::size_t left = 0;
  for (const std::uint32_t position : waiting_) {
    Pending& pending = pending_[position];
    if (pending.in_flight >= kEnoughInFlight && pending.packet.size() < kGatheredBytes) {
      waiting_[left++] = position;
      continue;
    }
    pending.waiting = false;
    if (!pending.packet.empty()) send(pending);
  }
  waiting_.resize(left);
  return left > 0;
}

}  // namespace lapse
