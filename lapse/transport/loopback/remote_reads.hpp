// Memory that ranks of a network in one process expose to each other, and reads of it.
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

// One rank's reads in flight. A read has two steps, reading the memory and delivering the value; the
// network's driver may delay each. The network defines how ranks expose memory.
//
// Thread safety: none; the memory may change meanwhile.
class LoopbackRemoteReads : public RemoteReads {
 public:
  virtual ~LoopbackRemoteReads() = default;

  void set_handler(Handler handler) override { handler_ = std::move(handler); }
  // Throws UsageError if the eight bytes are not all exposed or not aligned to eight.
  void begin(Rank from, std::uint32_t number, std::size_t offset, std::uint64_t tag) override
      LAPSE_REQUIRES(progress_role);

  std::size_t in_flight() const { return reads_.size(); }
  // Makes the next step of read `index`, counted in begin order. Returns whether it was the last.
  bool advance(std::size_t index);
  // Makes all steps of all reads. Returns whether there were any.
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
