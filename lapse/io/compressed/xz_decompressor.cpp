// The .xz file format, by liblzma.
#include <fmt/format.h>
#include <lzma.h>

#include "lapse/io/compressed/decompressors.hpp"
#include "lapse/io/files/input_error.hpp"

namespace lapse::io {

namespace {

// Accepts several streams in one file, with padding between them.
class XzDecompressor final : public Decompressor {
 public:
  // Refuses files that need more memory: what xz -9 writes needs 65 MiB.
  static constexpr std::uint64_t kMaxMemoryBytes = std::uint64_t{1} << 30;

  // Throws InputError if out of memory.
  XzDecompressor();
  ~XzDecompressor() override;
  XzDecompressor(const XzDecompressor&) = delete;
  XzDecompressor& operator=(const XzDecompressor&) = delete;

  Step run(std::span<const char> input, bool last, std::span<char> output) override;
  bool complete() const override { return complete_; }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool complete_ = false;
};

std::string problem_text(lzma_ret result) {
  switch (result) {
    case LZMA_MEM_ERROR:
      return "xz: not enough memory";
    case LZMA_MEMLIMIT_ERROR:
      return fmt::format("xz: needs more than {} MiB of memory", XzDecompressor::kMaxMemoryBytes >> 20U);
    case LZMA_FORMAT_ERROR:
      return "xz data are damaged, or followed by other data: no header where one was expected";
    case LZMA_OPTIONS_ERROR:
      return "xz data use options that liblzma does not know, or are damaged";
    case LZMA_UNSUPPORTED_CHECK:
      return "xz data have a check that liblzma does not know";
    case LZMA_BUF_ERROR:
      return "xz data end early: the file is cut off";
    default:
      return "xz data are damaged, or followed by other data";
  }
}

XzDecompressor::XzDecompressor() {
  const std::uint32_t flags = LZMA_CONCATENATED | LZMA_TELL_UNSUPPORTED_CHECK;
  if (lzma_stream_decoder(&stream_, kMaxMemoryBytes, flags) != LZMA_OK) {
    throw InputError("xz: not enough memory");
  }
}

XzDecompressor::~XzDecompressor() {
  lzma_end(&stream_);
}

Decompressor::Step XzDecompressor::run(std::span<const char> input, bool last, std::span<char> output) {
  if (complete_) return {};
  stream_.next_in = reinterpret_cast<const std::uint8_t*>(input.data());
  stream_.avail_in = input.size();
  stream_.next_out = reinterpret_cast<std::uint8_t*>(output.data());
  stream_.avail_out = output.size();
  const lzma_ret result = lzma_code(&stream_, last ? LZMA_FINISH : LZMA_RUN);
  Step step{input.size() - stream_.avail_in, output.size() - stream_.avail_out, ""};
  complete_ = result == LZMA_STREAM_END;
  if (result != LZMA_OK && !complete_) step.problem = problem_text(result);
  return step;
}

}  // namespace

std::unique_ptr<Decompressor> make_xz_decompressor() {
  return std::make_unique<XzDecompressor>();
}

}  // namespace lapse::io
