#include "lapse/io/loading/broadcast_source.hpp"

#include <fmt/format.h>

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
    : path_(path), group_(std::move(group)), piece_(std::make_unique_for_overwrite<char[]>(kPieceBytes)) {
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

void BroadcastSource::watch_silence(const Announcement& piece) {
  if (piece.bytes > 0 || piece.last != 0) return silent_since_.reset();
  const Clock::time_point now = Clock::now();
  if (group_.silence_interval.count() == 0 || now - reported_ < group_.silence_interval) return;
  reported_ = now;
  group_.report_silence(
      fmt::format("{} has given nothing for {} s, and no writer has closed it: inputs are read one after the "
                  "other, each to its end",
                  input_name(path_), std::chrono::floor<std::chrono::seconds>(now - *silent_since_).count()));
}

void BroadcastSource::exchange_piece() {
  Announcement piece;
  if (group_.is_first) {
    if (!silent_since_) silent_since_ = reported_ = Clock::now();
    piece = read_piece();
    watch_silence(piece);
  }
  group_.broadcast(std::as_writable_bytes(std::span(&piece, 1)));
  if (piece.bytes > 0) {
    group_.broadcast(std::as_writable_bytes(std::span(piece_.get(), static_cast<std::size_t>(piece.bytes))));
  }
  begin_ = 0;
  end_ = static_cast<std::size_t>(piece.bytes);
  ended_ = piece.last != 0;
}

}  // namespace lapse::io
