#include "lapse/transport/mpi/host_memory.hpp"

#include "lapse/core/error.hpp"
#include "lapse/transport/host_rings_layout.hpp"

namespace lapse {

namespace {

bool populate_ring(std::byte* memory, std::size_t bytes) {
  try {
    MpiSharedWindows::populate(memory, bytes);
    return true;
  } catch (const OutOfMemory&) {
    return false;
  }
}

}  // namespace

MpiHostMemory::MpiHostMemory(const MpiCommunicator& communicator, const MpiTransportSettings& settings,
                             BufferPool& pool)
    : windows_(communicator.host(), communicator.lock()) {
  const std::int32_t ranks = communicator.host_ranks();
  if (ranks == 1) return;
  const std::size_t lines = static_cast<std::size_t>(ranks) * HostDoorbells::kLineBytes;
  const HostRingsLayout layout(ranks, settings.host_ring_bytes);
  std::byte* memory = nullptr;
  bool has_rings = settings.host_rings;
  try {
    try {
      memory = windows_.allocate(has_rings ? layout.bytes() + lines : lines);
    } catch (const OutOfMemory&) {
      if (!has_rings) throw;
      has_rings = false;
      memory = windows_.allocate(lines);
    }
    std::byte* const bells = has_rings ? memory + layout.bytes() : memory;
    MpiSharedWindows::populate(bells, lines);
    if (has_rings) MpiSharedWindows::populate(memory, layout.position_bytes());
    bells_.emplace(bells, communicator.hosts(), communicator.rank());
  } catch (const Error& error) {
    problem_ = error.what();
    return;
  }
  if (has_rings) {
    rings_.emplace(memory, layout, communicator.hosts(), communicator.rank(), &*bells_, pool, populate_ring);
  }
}

void MpiHostMemory::free() {
  rings_.reset();
  bells_.reset();
  windows_.free();
}

}  // namespace lapse
