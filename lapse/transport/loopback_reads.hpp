// What the ranks of a network inside one process expose to each other, and the reads of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Reads of one rank that are under way. A read finishes in two steps: it looks at the memory, and what it saw
// is delivered; each may be as late as one likes.
//
// Thread safety: none; the memory may change meanwhile.
class LoopbackReads {
 public:
  void set_handler(Transport::ReadHandler handler) { handler_ = std::move(handler); }
  // Throws UsageError when the eight bytes are not all in `memory` or not at a multiple of eight.
  void begin(std::span<const std::byte> memory, std::size_t offset, std::uint64_t tag);
  std::size_t under_way() const { return reads_.size(); }
  // The next step of read `index`, counted in the order in which they began. Returns whether it was the last.
  bool advance(std::size_t index);
  // Both steps of all. Returns whether there were any.
  bool finish_all();

 private:
  struct Read {
    const std::byte* address;
    std::uint64_t tag;
    std::optional<std::uint64_t> value;
  };

  std::vector<Read> reads_;
  Transport::ReadHandler handler_;
};

}  // namespace lapse
