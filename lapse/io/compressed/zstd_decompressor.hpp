// Zstandard (RFC 8878), by libzstd.
#pragma once

#include <zstd.h>

#include <memory>

#include "lapse/io/compressed/decompressor.hpp"

namespace lapse::io {

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

}  // namespace lapse::io
