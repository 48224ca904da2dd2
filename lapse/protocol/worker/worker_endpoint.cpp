#include "lapse/protocol/worker/worker_endpoint.hpp"

#include <fmt/format.h>

#include <bit>

#include "lapse/core/error.hpp"
#include "lapse/protocol/worker/stall_question.hpp"

namespace lapse {

WorkerEndpoint::WorkerEndpoint(std::uint32_t local_index, const Limits& limits)
    : local_index_(local_index), unanswered_(limits.keys), max_chunks_(limits.operations / kChunk) {
  lease_request_.worker = this;
  sync_request_.worker = this;
}

WorkerEndpoint::~WorkerEndpoint() = default;

StallQuestion& WorkerEndpoint::stall_question() {
  if (!stall_question_) {
    stall_question_ = std::make_unique<StallQuestion>();
    stall_question_->worker = this;
  }
  return *stall_question_;
}

inline void WorkerEndpoint::make_free(OperationState& operation) {
  progress_role.assert_held();  // The engine does not use finished operations.
  operation.serial.store(operation.serial.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (operation.failure && !failure_) [[unlikely]]
    failure_ = std::move(operation.failure);
  std::size_t bytes = operation.kept_bytes();
  if (bytes > kKeptBytes - kept_bytes_) [[unlikely]] {
    operation.free_memory();
    bytes = 0;
  }
  static_assert(kKeptBytes <= UINT32_MAX);
  operation.counted_bytes = static_cast<std::uint32_t>(bytes);
  kept_bytes_ += bytes;
  free_.push_back(&operation);
}

void WorkerEndpoint::reclaim() {
  std::size_t kept = 0;
  for (OperationState* operation : detached_) {
    if (operation->done()) {
      make_free(*operation);
    } else {
      detached_[kept++] = operation;
    }
  }
  detached_.resize(kept);
}

void WorkerEndpoint::reclaim_one() {
  reclaim();
  if (!free_.empty()) return;
  throw UsageError(fmt::format(
      "local worker {} has {} operations that are not finished or whose handles are kept (the limit); "
      "wait for some and destroy their handles",
      local_index_, max_chunks_ * kChunk));
}

std::unique_ptr<KeyFailure> WorkerEndpoint::take_failure() {
  if (!detached_.empty()) reclaim();
  return std::move(failure_);
}

void WorkerEndpoint::add_operations() {
  require_operation();
  reclaim();
  if (!free_.empty()) return;
  const std::size_t chunk = chunks_.size();
  // Reserves space for all operations, so that freeing one allocates nothing.
  const std::size_t operations = std::bit_ceil((chunk + 1) * kChunk);
  free_.reserve(operations);
  detached_.reserve(operations);
  chunks_.push_back(std::make_unique<OperationState[]>(kChunk));
  for (std::size_t i = kChunk; i > 0; --i) {
    OperationState& operation = chunks_[chunk][i - 1];
    operation.worker = this;
    operation.number = (std::uint64_t{local_index_} << 32) | (chunk * kChunk + i - 1);
    free_.push_back(&operation);
  }
  chunk_starts_[chunk].store(chunks_[chunk].get(), std::memory_order_release);
}

OperationState& WorkerEndpoint::acquire() {
  if (free_.empty()) [[unlikely]]
    add_operations();
  OperationState& operation = *free_.back();
  free_.pop_back();
  progress_role.assert_held();  // The engine does not have the operation yet.
  kept_bytes_ -= operation.counted_bytes;
  operation.items.clear();
  operation.updates = nullptr;
  operation.payload.clear();
  operation.update_bytes = 0;
  operation.holdable = false;
  operation.refused = false;
  operation.is_remote = false;
  operation.destination = nullptr;
  operation.failure.reset();
  operation.in_hand = true;
  return operation;
}

void WorkerEndpoint::orphan_handles() {
  for (const auto& chunk : chunks_) {
    for (std::size_t i = 0; i < kChunk; ++i) {
      if (chunk[i].in_hand) chunk[i].orphaned = true;
    }
  }
}

void WorkerEndpoint::release(OperationState& operation) {
  operation.in_hand = false;
  if (operation.done()) {
    make_free(operation);
  } else {
    detached_.push_back(&operation);
  }
}

OperationState* WorkerEndpoint::find(std::uint64_t number) {
  const std::size_t index = static_cast<std::uint32_t>(number);
  if (index / kChunk >= kMaxChunks) return nullptr;
  OperationState* chunk = chunk_starts_[index / kChunk].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : chunk + index % kChunk;
}

}  // namespace lapse
