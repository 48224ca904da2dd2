// Zstandard (RFC 8878), by libzstd.
#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "lapse/io/compressed/decompressors.hpp"
#include "lapse/io/files/input_error.hpp"

namespace lapse::io {

namespace {

// Refuses frames whose window exceeds libzstd's usual limit of 128 MiB. libzstd does not report what it has
// produced of the block in which it finds a problem, so up to 128 KiB of correct data before a problem are
// lost.
class ZstdDecompressor final : public Decompressor {
 public:
  // Throws InputError if out of memory.
  ZstdDecompressor();

  Step run(std::span<const char> input, bool last, std::span<char> output) override;
  bool complete() const override { return complete_; }

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  bool complete_ = true;
};

ZstdDecompressor::ZstdDecompressor() : context_(ZSTD_createDCtx()) {
  if (!context_) throw InputError("zstd: not enough memory");
}

Decompressor::Step ZstdDecompressor::run(std::span<const char> input, bool /*last*/, std::span<char> output) {
  if (input.empty() && complete_) return {};  // A call would begin another frame.
  ZSTD_inBuffer in{input.data(), input.size(), 0};
  // At most one block, so that a problem in the next block loses no bytes of this block.
  ZSTD_outBuffer out{output.data(), std::min(output.size(), ZSTD_DStreamOutSize()), 0};
  const std::size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
  Step step{in.pos, out.pos, ""};
  if (ZSTD_isError(result) != 0) {
    step.problem =
        fmt::format("zstd data are damaged, or followed by other data: {}", ZSTD_getErrorName(result));
  } else {
    complete_ = result == 0;
  }
  return step;
}

}  // namespace

std::unique_ptr<Decompressor> make_zstd_decompressor() {
  return std::make_unique<ZstdDecompressor>();
}

}  // namespace lapse::io
