// Memory that ranks of a host share: a capability of some transports beside packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lapse {

// Thread safety: one thread at a time; free_bytes and place: any thread.
class SharedMemory {
 public:
  // Why this host cannot share memory; empty when it can. The same message on all ranks of the host.
  virtual std::string problem() const = 0;
  // Collective. The ranks that give the same `group`, all of one host, will share memory; once.
  virtual void join_group(std::int32_t group) = 0;
  // Collective over the group. As many zeroed bytes as every rank of the group asks for, from a page boundary
  // on, mapped until the transport is closed. No page exists before it is touched; the kernel kills a process
  // that touches one for which there is no room. Throws OutOfMemory when free_bytes() is less on some rank,
  // else MpiError.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  // What such memory may take now, with all that other groups of this host take.
  virtual std::size_t free_bytes() const = 0;
  // Where it is stored, for messages.
  virtual std::string place() const = 0;

 protected:
  ~SharedMemory() = default;
};

}  // namespace lapse
