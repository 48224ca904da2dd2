// gzip (RFC 1952), by zlib.
#include <fmt/format.h>

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "lapse/io/compressed/decompressors.hpp"
#include "lapse/io/files/input_error.hpp"

namespace lapse::io {

namespace {

// zlib: the largest window, and gzip headers only.
constexpr int kGzipWindowBits = 15 + 16;

uInt at_most_uint(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

class GzipDecompressor final : public Decompressor {
 public:
  // Throws InputError if out of memory.
  GzipDecompressor();
  ~GzipDecompressor() override;
  GzipDecompressor(const GzipDecompressor&) = delete;
  GzipDecompressor& operator=(const GzipDecompressor&) = delete;

  Step run(std::span<const char> input, bool last, std::span<char> output) override;
  bool complete() const override { return !in_member_; }

 private:
  std::string problem_text(int result) const;

  z_stream stream_{};
  bool in_member_ = false;
  bool first_member_ = true;
};

GzipDecompressor::GzipDecompressor() {
  if (inflateInit2(&stream_, kGzipWindowBits) != Z_OK) throw InputError("gzip: not enough memory");
}

GzipDecompressor::~GzipDecompressor() {
  inflateEnd(&stream_);
}

Decompressor::Step GzipDecompressor::run(std::span<const char> input, bool /*last*/, std::span<char> output) {
  stream_.next_in = reinterpret_cast<const Bytef*>(input.data());
  stream_.avail_in = at_most_uint(input.size());
  stream_.next_out = reinterpret_cast<Bytef*>(output.data());
  stream_.avail_out = at_most_uint(output.size());
  const std::size_t input_bytes = stream_.avail_in;
  const std::size_t output_bytes = stream_.avail_out;
  std::string problem;
  while (stream_.avail_out > 0 && (in_member_ || stream_.avail_in > 0)) {
    in_member_ = true;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      in_member_ = false;
      first_member_ = false;
      inflateReset(&stream_);
    } else if (result == Z_BUF_ERROR) {
      break;  // Needs more input.
    } else if (result != Z_OK) {
      problem = problem_text(result);
      break;
    }
  }
  return {input_bytes - stream_.avail_in, output_bytes - stream_.avail_out, std::move(problem)};
}

std::string GzipDecompressor::problem_text(int result) const {
  if (result == Z_MEM_ERROR) return "gzip: not enough memory";
  const std::string reason = stream_.msg != nullptr ? stream_.msg : zError(result);
  return fmt::format("gzip data are damaged{}: {}", first_member_ ? "" : ", or followed by other data",
                     reason);
}

}  // namespace

std::unique_ptr<Decompressor> make_gzip_decompressor() {
  return std::make_unique<GzipDecompressor>();
}

}  // namespace lapse::io
