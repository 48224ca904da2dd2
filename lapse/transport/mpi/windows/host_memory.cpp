#include "lapse/transport/mpi/windows/host_memory.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"
#include "lapse/core/process/pages.hpp"
#include "lapse/transport/host/host_rings_layout.hpp"
#include "lapse/transport/host/shared_memory_remedies.hpp"

namespace lapse {

namespace {

// Populates pages instead of being killed if there is no space.
bool populate(std::byte* memory, std::size_t bytes) {
  return populate_pages(memory, bytes, &MpiSharedWindows::free_bytes);
}

// Rings leave this much of the file system to tables and to the MPI library, which have no alternative.
constexpr std::size_t kLeftByRings = std::size_t{8} << 20;

bool populate_ring(std::byte* memory, std::size_t bytes) {
  if (MpiSharedWindows::free_bytes() < bytes + kLeftByRings) return false;
  if (populate(memory, bytes)) return true;
  // Some of the pages may exist, but no rank has used them.
  release_pages(memory, bytes);
  return false;
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
  } catch (const Error& error) {
    problem_ = error.what();
    return;
  }
  std::byte* const bells = has_rings ? memory + layout.bytes() : memory;
  // A rank without these pages uses neither bells nor rings, so all ranks of the host use them or none does.
  if (!windows_.all_have(populate(bells, lines))) {
    problem_ = fmt::format("{} is full; {}", MpiSharedWindows::directory(), kMoreSharedMemory);
    return;
  }
  bells_.emplace(bells, communicator.hosts(), communicator.rank());
  bytes_ = (has_rings ? layout.bytes() + lines : lines) / static_cast<std::size_t>(ranks);
  if (has_rings && windows_.all_have(populate(memory, layout.position_bytes())))
    rings_.emplace(memory, layout, communicator.hosts(), communicator.rank(), &*bells_, pool, populate_ring);
}

void MpiHostMemory::free() {
  rings_.reset();
  bells_.reset();
  windows_.free();
}

}  // namespace lapse
