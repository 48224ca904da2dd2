// One interface for the libraries that decompress.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "lapse/io/compressed/compression.hpp"

namespace lapse::io {

// Turns compressed bytes, given piece by piece, into the original bytes. Members and frames that follow each
// other in one file give their original bytes one after the other. Used by one thread.
class Decompressor {
 public:
  struct Step {
    std::size_t consumed = 0;  // bytes of the input
    std::size_t produced = 0;  // bytes of the output
    std::string problem;       // empty: none. What was produced before the problem is right.
  };

  virtual ~Decompressor() = default;

  // Consumes and produces as much as is convenient; nothing at all only when more input is needed. `last`: no
  // input follows this one. Not called again after a problem.
  virtual Step run(std::span<const char> input, bool last, std::span<char> output) = 0;

  // Whether all consumed input has been whole members or frames.
  virtual bool complete() const = 0;
};

// For gzip, xz and zstd. Throws InputError for formats that cannot be decompressed, and when memory is short.
std::unique_ptr<Decompressor> make_decompressor(Compression compression);

}  // namespace lapse::io
