// A stream that one rank reads for all ranks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lapse/io/files/byte_source.hpp"
#include "lapse/io/files/file_descriptor.hpp"
#include "lapse/io/loading/reader_group.hpp"

namespace lapse::io {

// The group's first rank reads a stream and broadcasts it in pieces, so that every rank gets all bytes and
// none holds more than a piece. The ranks must read until the end, or until an exception ends them all.
//
// A stream may be silent for any time. Meanwhile the first rank broadcasts every kPatience that there is
// nothing yet. So it notices the failure of another rank, and no rank is taken for stalled. As only the first
// rank sees the silence, it reports that, as the group specifies.
class BroadcastSource final : public ByteSource {
 public:
  // Collective over the group, which must have several ranks. Opens the stream on the first rank, without
  // waiting for a writer. Throws FileError.
  BroadcastSource(const std::string& path, ReaderGroup group);

  // Collective over the group whenever the piece is used up; ranks may ask for different numbers of bytes.
  // Throws InputError on the rank that reads, and what the group's broadcast throws.
  std::size_t read(std::span<char> destination) override;

 private:
  // Broadcast before the bytes of a piece.
  struct Announcement {
    std::uint64_t bytes = 0;  // 0: nothing yet, or the end
    std::uint64_t last = 0;   // 1: no piece follows
  };

  // First rank: fills the piece until it is full, the stream ends or is silent for too long.
  Announcement read_piece();
  void exchange_piece();
  // First rank: after a piece, reports a silence longer than the group's interval.
  void watch_silence(const Announcement& piece);

  using Clock = std::chrono::steady_clock;

  std::string path_;
  ReaderGroup group_;
  std::optional<FileDescriptor> file_;  // first rank
  std::unique_ptr<char[]> piece_;
  std::size_t begin_ = 0;  // [begin_, end_) are the unread bytes of piece_
  std::size_t end_ = 0;
  bool ended_ = false;  // no piece follows
  // First rank: when it began to wait for the stream, if it waits, and when that was last reported.
  std::optional<Clock::time_point> silent_since_;
  Clock::time_point reported_;
};

}  // namespace lapse::io
