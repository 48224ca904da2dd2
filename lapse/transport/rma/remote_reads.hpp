// Reads memory that other ranks expose: an optional capability of a transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// Thread safety: one thread at a time (the holder of the progress lock, if an engine runs).
class RemoteReads {
 public:
  // A finished read. The value was in memory at some moment since begin.
  struct Finished {
    std::uint64_t tag = 0;
    std::uint64_t value = 0;
  };
  // Called by Transport::poll, in any order of the reads; several at once count as one packet. May make the
  // calls that a packet handler may make.
  using Handler = std::function<void(std::span<const Finished>)>;

  // Call before the first read.
  virtual void set_handler(Handler handler) = 0;
  // Collective. Lets every rank read `memory` until the transport is closed. Returns a number for it, the
  // same on every rank. Throws MpiError on every rank if it fails on one.
  virtual std::uint32_t expose(std::span<const std::byte> memory) = 0;
  // Begins to read the eight bytes at `offset` of what `from` exposed under `number`. Never waits.
  virtual void begin(Rank from, std::uint32_t number, std::size_t offset, std::uint64_t tag)
      LAPSE_REQUIRES(progress_role) = 0;

 protected:
  ~RemoteReads() = default;
};

}  // namespace lapse
