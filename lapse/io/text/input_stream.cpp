#include "lapse/io/text/input_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "lapse/io/files/input_error.hpp"

namespace lapse::io {

namespace {
constexpr std::size_t kRawBytes = std::size_t{1} << 18;
}

InputStream::InputStream(const Input& input) : raw_(std::make_unique_for_overwrite<char[]>(kRawBytes)) {
  if (input.has_source()) {
    source_ = input.open_source();
  } else {
    file_.emplace(input.path());
  }
  try {
    while (!raw_ended_ && raw_end_ < kCompressionMagicBytes) {
      const std::size_t count = read_stored({raw_.get() + raw_end_, kRawBytes - raw_end_});
      raw_end_ += count;
      raw_ended_ = count == 0;
    }
    compression_ = detect_compression({raw_.get(), std::min(raw_end_, kCompressionMagicBytes)});
    if (compression_ != Compression::none) decompressor_ = make_decompressor(compression_);
  } catch (const InputError& error) {
    throw FileError(input_name(input.path()), error.what());
  }
}

std::size_t InputStream::read(std::span<char> destination) {
  if (destination.empty()) return 0;
  if (decompressor_) return decompress(destination);
  if (raw_begin_ < raw_end_) return take_raw(destination);
  return raw_ended_ ? 0 : read_stored(destination);
}

std::optional<std::uint64_t> InputStream::size() const {
  return decompressor_ || !file_ ? std::nullopt : file_->size();
}

void InputStream::seek(std::uint64_t offset) {
  file_->seek(offset);
  raw_begin_ = raw_end_ = 0;
  raw_ended_ = false;
}

std::uint64_t InputStream::count_lines_before(std::uint64_t offset) const {
  std::vector<char> block(std::min<std::uint64_t>(kRawBytes, offset));
  std::uint64_t lines = 0;
  for (std::uint64_t position = 0; position < offset;) {
    const std::size_t wanted = std::min<std::uint64_t>(block.size(), offset - position);
    const std::size_t count = file_->read_at(position, std::span(block).first(wanted));
    if (count == 0) break;
    lines += static_cast<std::uint64_t>(
        std::count(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count), '\n'));
    position += count;
  }
  return lines;
}

void InputStream::read_raw() {
  raw_begin_ = 0;
  raw_end_ = read_stored({raw_.get(), kRawBytes});
  raw_ended_ = raw_end_ == 0;
}

std::size_t InputStream::take_raw(std::span<char> destination) {
  const std::size_t count = std::min(destination.size(), raw_end_ - raw_begin_);
  std::memcpy(destination.data(), raw_.get() + raw_begin_, count);
  raw_begin_ += count;
  return count;
}

std::size_t InputStream::decompress(std::span<char> destination) {
  for (;;) {
    if (!problem_.empty()) fail(problem_);
    if (raw_begin_ == raw_end_ && !raw_ended_) read_raw();
    const std::span<const char> input(raw_.get() + raw_begin_, raw_end_ - raw_begin_);
    Decompressor::Step step = decompressor_->run(input, raw_ended_, destination);
    raw_begin_ += step.consumed;
    raw_offset_ += step.consumed;
    problem_ = std::move(step.problem);
    if (step.produced > 0) return step.produced;
    if (!problem_.empty()) continue;
    const bool stuck = step.consumed == 0 && !input.empty();
    if (stuck) fail(fmt::format("{} data are damaged", compression_name(compression_)));
    if (raw_ended_ && raw_begin_ == raw_end_) {
      if (decompressor_->complete()) return 0;
      fail(fmt::format("{} data end early: the file is cut off", compression_name(compression_)));
    }
  }
}

void InputStream::fail(const std::string& problem) const {
  throw InputError(fmt::format("{} (at byte {} of the compressed file)", problem, raw_offset_));
}

}  // namespace lapse::io
