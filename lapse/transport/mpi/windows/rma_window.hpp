// An MPI window into the memory of every rank of an instance.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/transport/mpi/library/communicator.hpp"

namespace lapse {

// Passive target: every rank may put and get throughout its lifetime. Made in two steps, because each can
// fail on some ranks only: construct, exchange the paddings, then call set_paddings.
//
// Thread safety: none. Functions that call MPI require the MPI lock, except the constructor and free.
class MpiRmaWindow {
 public:
  static constexpr std::size_t kAlignment = 64;

  // Collective. Exposes `bytes` of this rank, from an address divisible by kAlignment. Throws MpiError.
  MpiRmaWindow(const MpiCommunicator& communicator, std::size_t bytes) LAPSE_EXCLUDES(mpi_role);
  // Without free() the window stays: freeing it is collective.
  ~MpiRmaWindow() = default;
  MpiRmaWindow(MpiRmaWindow&&) = default;
  MpiRmaWindow(const MpiRmaWindow&) = delete;
  MpiRmaWindow& operator=(const MpiRmaWindow&) = delete;

  // Bytes before the aligned ones. They differ between ranks; each rank needs the paddings of all ranks.
  std::uint8_t padding() const { return padding_; }
  void set_paddings(std::vector<std::uint8_t> paddings) { paddings_ = std::move(paddings); }

  std::byte* memory() const { return memory_; }
  // Begins a put. The bytes must not change until flush returns; then they are at the target.
  void put(std::span<const std::byte> bytes, Rank to, std::size_t offset) LAPSE_REQUIRES(mpi_role);
  // Waits until everything put to this rank has arrived; over a network without remote memory access, until
  // the rank enters MPI.
  void flush(Rank to) LAPSE_REQUIRES(mpi_role);
  // Makes what other ranks have put and reported readable.
  void sync() LAPSE_REQUIRES(mpi_role);

  // A put and a get as requests that can be tested.
  MPI_Request begin_put(std::span<const std::byte> bytes, Rank to, std::size_t offset)
      LAPSE_REQUIRES(mpi_role);
  MPI_Request begin_get(std::span<std::byte> bytes, Rank from, std::size_t offset) LAPSE_REQUIRES(mpi_role);

  // Collective.
  void free(const MpiCommunicator& communicator) LAPSE_EXCLUDES(mpi_role);

 private:
  MPI_Aint displacement(Rank rank, std::size_t offset) const {
    return static_cast<MPI_Aint>(paddings_[rank.index()] + offset);
  }

  MPI_Win window_ = MPI_WIN_NULL;
  std::byte* memory_ = nullptr;
  std::uint8_t padding_ = 0;
  std::vector<std::uint8_t> paddings_;  // by rank
};

}  // namespace lapse
