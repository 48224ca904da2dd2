// Decides whether all ranks have quiesced.
#pragma once

#include <cstdint>

namespace lapse {

// The sums of a wave of termination detection over all ranks, or of a barrier. Each rank contributes once, at
// its *cut*: the numbers of frames that it has sent and received, and whether it is passive at that moment:
// its workers are done or waiting, and nothing is queued, held or arriving.
//
// The cuts are consistent: no rank has received, before its cut, a frame that was sent after the sender's
// (see CutNumber). So if every rank is passive, and as many frames were received as sent, none was in flight
// at the cuts, and nothing happens after them that a message causes: one wave is enough.
struct QuiescenceCounts {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t busy = 0;     // ranks that are not passive, or whose cut is not consistent
  std::uint64_t waiting = 0;  // ranks whose workers wait for the end of the detection, then continue

  QuiescenceCounts& operator+=(const QuiescenceCounts& other) {
    sent += other.sent;
    received += other.received;
    busy += other.busy;
    waiting += other.waiting;
    return *this;
  }
  bool operator==(const QuiescenceCounts&) const = default;

  bool none_in_flight() const { return sent == received; }
  bool quiesced() const { return busy == 0 && none_in_flight(); }
};

// How many cuts a rank has made in this phase, in waves and at barriers, each modulo 4, as frames carry it.
// Two ranks differ by one at most: a wave or a barrier ends after the cuts of all ranks. The numbers are two
// because a barrier may remain without an end, where a rank has failed; waves follow then.
class CutNumber {
 public:
  enum class Kind : unsigned { wave = 14, barrier = 12 };  // the position of its number in the flags
  static constexpr std::uint16_t kFlags = 0xf000;          // of FrameHeader::flags

  std::uint16_t flags() const { return flags_; }
  void advance(Kind kind) {
    const unsigned position = static_cast<unsigned>(kind);
    const unsigned number = ((flags_ >> position) + 1U) % 4U;
    flags_ = static_cast<std::uint16_t>((flags_ & ~(3U << position)) | (number << position));
  }
  // Whether a frame with these flags was sent after a cut of this kind that this rank has not made yet. It
  // may also be one that was sent three cuts ago.
  bool is_behind(std::uint16_t flags, Kind kind) const {
    const unsigned position = static_cast<unsigned>(kind);
    return ((unsigned{flags} >> position) - (unsigned{flags_} >> position)) % 4U == 1;
  }
  // Whether the frame was sent after as many cuts as this rank has made: then it is not behind.
  bool is_of(std::uint16_t flags) const { return (flags & kFlags) == flags_; }

 private:
  std::uint16_t flags_ = 0;
};

}  // namespace lapse
