#include "lapse/io/compressed/zstd_decompressor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lapse/io/compressed/decompressors.hpp"
#include "lapse/io/files/input_error.hpp"

namespace lapse::io {

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

std::unique_ptr<Decompressor> make_zstd_decompressor() {
  return std::make_unique<ZstdDecompressor>();
}

}  // namespace lapse::io
