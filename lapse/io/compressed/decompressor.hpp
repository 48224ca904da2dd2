// Common interface of the decompression libraries.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "lapse/io/compressed/compression.hpp"

namespace lapse::io {

// Decompresses bytes that are passed piece by piece. The contents of consecutive members or frames of one
// file are concatenated. Used by one thread.
class Decompressor {
 public:
  struct Step {
    std::size_t consumed = 0;  // bytes of the input
    std::size_t produced = 0;  // bytes of the output
    std::string problem;       // empty: none. Bytes produced before the problem are correct.
  };

  virtual ~Decompressor() = default;

  // Consumes and produces as much as is convenient; nothing at all only if more input is needed. `last`: no
  // input follows this one. Must not be called again after a problem.
  virtual Step run(std::span<const char> input, bool last, std::span<char> output) = 0;

  // Whether the consumed input consists of whole members or frames.
  virtual bool complete() const = 0;
};

// For gzip, xz and zstd. Throws InputError for formats that cannot be decompressed, and if out of memory.
std::unique_ptr<Decompressor> make_decompressor(Compression compression);

}  // namespace lapse::io
