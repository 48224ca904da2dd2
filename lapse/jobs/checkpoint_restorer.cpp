#include "lapse/jobs/checkpoint_restorer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/ps/access/worker_core.hpp"
#include "lapse/ps/function.hpp"

namespace lapse {

namespace {

// The position of the bytes in value and state.
struct RestoredPart {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

constexpr std::size_t kPrefetchAhead = 8;

// Prefetches keys that are restored soon.
void prefetch(const Store& store, std::span<const std::uint64_t> keys, std::size_t i) {
  for (const std::size_t near : {i, i + kPrefetchAhead}) {
    if (near >= keys.size() || !store.has(Key(keys[near]))) return;
    near == i ? store.prefetch_value(Key(keys[near])) : store.prefetch_word(Key(keys[near]));
  }
}

template <std::size_t bytes>
struct RestoreArgument {
  RestoredPart part;
  std::array<std::byte, bytes> content;
};

template <std::size_t size>
const RegisteredFunction& register_restore(ParameterServer& server, const std::string& label) {
  constexpr std::size_t kBytes = RestoreFunctions::kMinBytes << size;
  // The type differs from the table's: the function writes bytes, including the state after the value.
  const auto function = server.register_function<float, RestoreArgument<kBytes>>(
      fmt::format("lapse.restore.{}.{}", label, kBytes),
      [](Key, std::span<float> value, const RestoreArgument<kBytes>& argument) {
        std::memcpy(reinterpret_cast<std::byte*>(value.data()) + argument.part.offset,
                    argument.content.data(), argument.part.bytes);
      });
  return function.definition();
}

template <std::size_t... sizes>
const RegisteredFunction& register_restore(ParameterServer& server, const std::string& label,
                                           std::size_t size, std::index_sequence<sizes...>) {
  const RegisteredFunction* function = nullptr;
  ((size == sizes ? void(function = &register_restore<sizes>(server, label)) : void()), ...);
  return *function;
}

}  // namespace

// --- functions

std::size_t RestoreFunctions::size_for(std::size_t bytes) {
  std::size_t size = 0;
  while (size + 1 < kSizes && bytes_of_size(size) < bytes) ++size;
  return size;
}

void RestoreFunctions::prepare(ParameterServer& server, const CheckpointTable& of) {
  const TableRecord table = of.record();
  if (table.length != 0) {
    // Content in several parts may end with a part of any size.
    const std::size_t bytes = (table.length + table.state_elements) * element_bytes(table.element);
    const std::size_t max = bytes_of_size(kSizes - 1);
    prepare(server, size_for(bytes));
    if (bytes > max) prepare(server, size_for((bytes - 1) % max + 1));
    return;
  }
  for (std::size_t size = 0; size < kSizes; ++size) prepare(server, size);
}

void RestoreFunctions::prepare(ParameterServer& server, std::size_t size) {
  if (functions_[size] == nullptr)
    functions_[size] = &register_restore(server, label_, size, std::make_index_sequence<kSizes>());
}

// --- restoring

void CheckpointRestorer::restore(const CheckpointTable& table, const TableLoad& load, ContentAdapter& adapter,
                                 const ShardBlock& block, const std::string& file) {
  Store& store = table.handle().state().store();
  const std::span<const std::uint64_t> keys = block.keys();
  const auto begin = static_cast<std::size_t>(std::ranges::lower_bound(keys, load.first_key) - keys.begin());
  const auto end = static_cast<std::size_t>(std::ranges::upper_bound(keys, load.last_key) - keys.begin());
  for (std::size_t i = begin; i < end; ++i) {
    const std::span<const std::byte> content = adapter.content(block, i, file);
    if (i + kPrefetchAhead < end) prefetch(store, keys, i + kPrefetchAhead);
    const Key key(keys[i]);
    const Found found =
        store.update_main(key, [&](std::byte* slot) { std::memcpy(slot, content.data(), content.size()); });
    if (!found) add(table, key, content);  // On another domain, or not made yet.
  }
  for (std::size_t size = 0; size < batches_.size(); ++size) send(table, size);
}

void CheckpointRestorer::add(const CheckpointTable& table, Key key, std::span<const std::byte> content) {
  constexpr std::size_t kMaxBatchBytes = std::size_t{1} << 20;
  std::uint32_t offset = 0;
  while (!content.empty()) {
    const std::size_t size = RestoreFunctions::size_for(content.size());
    const std::size_t room = RestoreFunctions::bytes_of_size(size);
    const std::size_t bytes = std::min(room, content.size());
    const RestoredPart part{.offset = offset, .bytes = static_cast<std::uint32_t>(bytes)};
    Batch& batch = batches_[size];
    const std::size_t at = batch.arguments.size();
    batch.keys.push_back(key);
    batch.arguments.resize(at + sizeof part + room);
    std::memcpy(batch.arguments.data() + at, &part, sizeof part);
    std::memcpy(batch.arguments.data() + at + sizeof part, content.data(), bytes);
    if (batch.arguments.size() >= kMaxBatchBytes) send(table, size);
    content = content.subspan(bytes);
    offset += part.bytes;
  }
}

void CheckpointRestorer::send(const CheckpointTable& table, std::size_t size) {
  Batch& batch = batches_[size];
  if (batch.keys.empty()) return;
  worker_.core().admit(table.handle(), batch.keys);
  worker_.core().access(table.handle(), batch.keys,
                        {.operation = {.kind = OperationKind::call, .function = &functions_.function(size)},
                         .updates = batch.arguments.data()});
  batch.keys.clear();
  batch.arguments.clear();
}

void CheckpointRestorer::finish() {
  worker_.wait_all();
}

void CheckpointRestorer::abandon() {
  try {
    worker_.wait_all();
  } catch (const PeerFailed&) {
    throw;
  } catch (const Error&) {
    // An earlier error is being handled.
  }
}

}  // namespace lapse
