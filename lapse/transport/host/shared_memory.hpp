// Memory shared by ranks of a host: an optional capability of a transport.
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
  // Collective. The ranks that pass the same `group`, all of one host, will share memory. Called once.
  virtual void join_group(std::int32_t group) = 0;
  // Collective over the group. Allocates page-aligned zeroed bytes, the same number on every rank of the
  // group, mapped until the transport is closed. No page exists before it is touched; the kernel kills a
  // process that touches a page when memory is exhausted. Throws OutOfMemory if free_bytes() is less on some
  // rank, MpiError otherwise.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  // Bytes still available for such memory, shared with other groups of this host.
  virtual std::size_t free_bytes() const = 0;
  // The place where it is stored; for messages.
  virtual std::string place() const = 0;

 protected:
  ~SharedMemory() = default;
};

}  // namespace lapse
