// What the ranks of a network inside one process expose to each other, and the reads of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/rma/remote_reads.hpp"

namespace lapse {

// The reads of one rank that are in flight. A read finishes in two steps: it reads the memory, and the value
// is delivered; each step may be as late as the driver of the network chooses. How ranks expose memory is
// left to the network.
//
// Thread safety: none; the memory may change meanwhile.
class LoopbackRemoteReads : public RemoteReads {
 public:
  virtual ~LoopbackRemoteReads() = default;

  void set_handler(Handler handler) override { handler_ = std::move(handler); }
  // Throws UsageError when the eight bytes are not all exposed or not at a multiple of eight.
  void begin(Rank from, std::uint32_t number, std::size_t offset, std::uint64_t tag) override
      LAPSE_REQUIRES(progress_role);

  std::size_t in_flight() const { return reads_.size(); }
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

  virtual std::span<const std::byte> exposed(Rank from, std::uint32_t number) const = 0;

  std::vector<Read> reads_;
  Handler handler_;
};

}  // namespace lapse
