#include "io/broadcast_source.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace lapse::io {

namespace {
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kPatience{200};
}  // namespace

BroadcastSource::BroadcastSource(const std::string& path, ReaderGroup group)
    : group_(std::move(group)), piece_(std::make_unique_for_overwrite<char[]>(kPieceBytes)) {
  if (group_.is_first) file_.emplace(path);
}

std::size_t BroadcastSource::read(std::span<char> destination) {
  while (begin_ == end_ && !ended_) exchange_piece();
  const std::size_t count = std::min(destination.size(), end_ - begin_);
  std::memcpy(destination.data(), piece_.get() + begin_, count);
  begin_ += count;
  return count;
}

BroadcastSource::Announcement BroadcastSource::read_piece() {
  Announcement piece;
  while (piece.bytes < kPieceBytes && file_->wait_for_bytes(kPatience)) {
    const std::size_t count = file_->read({piece_.get() + piece.bytes, kPieceBytes - piece.bytes});
    piece.bytes += count;
    if (count == 0) {
      piece.last = 1;
      break;
    }
  }
  return piece;
}

void BroadcastSource::exchange_piece() {
  Announcement piece;
  if (group_.is_first) piece = read_piece();
  group_.broadcast(std::as_writable_bytes(std::span(&piece, 1)));
  if (piece.bytes > 0) {
    group_.broadcast(std::as_writable_bytes(std::span(piece_.get(), static_cast<std::size_t>(piece.bytes))));
  }
  begin_ = 0;
  end_ = static_cast<std::size_t>(piece.bytes);
  ended_ = piece.last != 0;
}

}  // namespace lapse::io
