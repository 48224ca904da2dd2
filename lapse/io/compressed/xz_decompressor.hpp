// The .xz file format, by liblzma.
#pragma once

#include <lzma.h>

#include "lapse/io/compressed/decompressor.hpp"

namespace lapse::io {

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

}  // namespace lapse::io
