#include "lapse/transport/loopback/remote_reads.hpp"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "lapse/core/error.hpp"

namespace lapse {

namespace {

constexpr std::size_t kBytes = sizeof(std::uint64_t);

RemoteReads::Finished read_word(const std::byte* address, std::uint64_t tag) {
  // Other threads may be writing to the memory.
  auto& word = *reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(address));
  return {tag, std::atomic_ref<std::uint64_t>(word).load(std::memory_order_relaxed)};
}

}  // namespace

void LoopbackRemoteReads::begin(Rank from, std::uint32_t number, std::size_t offset, std::uint64_t tag) {
  const std::span<const std::byte> memory = exposed(from, number);
  if (offset % kBytes != 0 || offset + kBytes > memory.size()) {
    throw UsageError(fmt::format("a remote read of {} bytes at offset {}: {} bytes are exposed", kBytes,
                                 offset, memory.size()));
  }
  reads_.push_back({memory.data() + offset, tag, std::nullopt});
}

bool LoopbackRemoteReads::advance(std::size_t index) {
  Read& read = reads_.at(index);
  const Finished seen = read_word(read.address, read.tag);
  if (!read.value) {
    read.value = seen.value;
    return false;
  }
  const Finished finished{read.tag, *read.value};
  reads_.erase(reads_.begin() + static_cast<std::ptrdiff_t>(index));
  handler_({&finished, 1});
  return true;
}

bool LoopbackRemoteReads::finish_all() {
  std::vector<Finished> finished;
  for (const Read& read : std::exchange(reads_, {}))
    finished.push_back(read.value ? Finished{read.tag, *read.value} : read_word(read.address, read.tag));
  if (finished.empty()) return false;
  handler_(finished);
  return true;
}

}  // namespace lapse
