#include "lapse/transport/loopback_reads.hpp"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "lapse/core/error.hpp"

namespace lapse {

namespace {

constexpr std::size_t kBytes = sizeof(std::uint64_t);

Transport::FinishedRead look(const std::byte* address, std::uint64_t tag) {
  // Others may write there now.
  auto& word = *reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(address));
  return {tag, std::atomic_ref<std::uint64_t>(word).load(std::memory_order_relaxed)};
}

}  // namespace

void LoopbackReads::begin(std::span<const std::byte> memory, std::size_t offset, std::uint64_t tag) {
  if (offset % kBytes != 0 || offset + kBytes > memory.size()) {
    throw UsageError(fmt::format("a remote read of {} bytes at offset {}: {} bytes are exposed", kBytes,
                                 offset, memory.size()));
  }
  reads_.push_back({memory.data() + offset, tag, std::nullopt});
}

bool LoopbackReads::advance(std::size_t index) {
  Read& read = reads_.at(index);
  const Transport::FinishedRead seen = look(read.address, read.tag);
  if (!read.value) {
    read.value = seen.value;
    return false;
  }
  const Transport::FinishedRead finished{read.tag, *read.value};
  reads_.erase(reads_.begin() + static_cast<std::ptrdiff_t>(index));
  handler_({&finished, 1});
  return true;
}

bool LoopbackReads::finish_all() {
  std::vector<Transport::FinishedRead> finished;
  for (const Read& read : std::exchange(reads_, {}))
    finished.push_back(read.value ? Transport::FinishedRead{read.tag, *read.value}
                                  : look(read.address, read.tag));
  if (finished.empty()) return false;
  handler_(finished);
  return true;
}

}  // namespace lapse
