// gzip (RFC 1952), by zlib.
#pragma once

#define ZLIB_CONST
#include <zlib.h>

#include "lapse/io/compressed/decompressor.hpp"

namespace lapse::io {

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

}  // namespace lapse::io
