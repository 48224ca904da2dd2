// Brings values and states from a checkpoint to their owners.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lapse/checkpoint/shard_reader.hpp"
#include "lapse/jobs/checkpoint_table.hpp"
#include "lapse/jobs/content_adapter.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse {

// Functions that write a part of a key's value and state where its main copy is, for parts of 64, 128, 256, …
// bytes: a call's arguments have one size.
class RestoreFunctions {
 public:
  // `label`: part of the names of functions, equal on all ranks, and no other object's. Where there is one
  // already, that stays.
  void set_label(const std::string& label) {
    if (label_.empty()) label_ = label;
  }
  static constexpr std::size_t kMinBytes = 64;
  static constexpr std::size_t kSizes = 10;

  // Collective. Registers the functions that contents of this table need and that are not registered yet.
  void prepare(ParameterServer& server, const CheckpointTable& table);
  // The number of the size that fits so many bytes; the largest where they take several parts.
  static std::size_t size_for(std::size_t bytes);
  static std::size_t bytes_of_size(std::size_t size) { return kMinBytes << size; }
  const RegisteredFunction& function(std::size_t size) const { return *functions_[size]; }

 private:
  void prepare(ParameterServer& server, std::size_t size);

  std::string label_;
  std::array<const RegisteredFunction*, kSizes> functions_{};
};

// Used by one worker, whose phase does nothing else.
class CheckpointRestorer {
 public:
  CheckpointRestorer(Worker& worker, const RestoreFunctions& functions)
      : worker_(worker), functions_(functions) {}

  // The entries whose keys are in the given interval. Throws CheckpointError where one does not fit the
  // table; keys before it may have been restored.
  void restore(const CheckpointTable& table, const TableLoad& load, ContentAdapter& adapter,
               const ShardBlock& block, const std::string& file);
  // Returns when everything is restored. Throws UserCodeFailed or OutOfMemory where a key could not be made.
  void finish();
  // After an error: waits until nothing is in flight. Throws PeerFailed alone.
  void abandon();

 private:
  // Calls of one function that are not made yet.
  struct Batch {
    std::vector<Key> keys;
    std::vector<std::byte> arguments;
  };

  void add(const CheckpointTable& table, Key key, std::span<const std::byte> content);
  void send(const CheckpointTable& table, std::size_t size);

  Worker& worker_;
  const RestoreFunctions& functions_;
  std::array<Batch, RestoreFunctions::kSizes> batches_;
};

}  // namespace lapse
