// Writes values and states of a checkpoint at their owners.
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

// Functions that write a part of a key's value and state at its main copy, for parts of 64, 128, 256, …
// bytes: a call's arguments have one size.
class RestoreFunctions {
 public:
  // `label`: part of the functions' names, equal on all ranks, and unique to this object. Keeps an existing
  // label.
  void set_label(const std::string& label) {
    if (label_.empty()) label_ = label;
  }
  static constexpr std::size_t kMinBytes = 64;
  static constexpr std::size_t kSizes = 10;

  // Collective. Registers the functions for contents of this table that are not registered yet.
  void prepare(ParameterServer& server, const CheckpointTable& table);
  // Returns the number of the smallest size that fits `bytes`; the largest if they need several parts.
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

  // Restores the entries whose keys are in the given interval. Throws CheckpointError if one does not fit the
  // table; keys before it may have been restored.
  void restore(const CheckpointTable& table, const TableLoad& load, ContentAdapter& adapter,
               const ShardBlock& block, const std::string& file);
  // Waits until everything is restored. Throws UserCodeFailed or OutOfMemory if a key could not be made.
  void finish();
  // After an error: waits until nothing is in flight. Throws only PeerFailed.
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
