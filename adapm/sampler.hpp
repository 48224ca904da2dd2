// Samplers of keys, and samples prepared with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "adapm/sampling_options.hpp"
#include "lapse/core/export.hpp"
#include "lapse/ps/table.hpp"

namespace adapm {

class Distribution;
class PreparedKeys;
class SamplerState;
class SampleStream;

// Draws keys of a table by a distribution, for the workers of all ranks. Made by
// ParameterManager::create_sampler. A cheap handle, valid as long as the manager. Every call with a
// default-constructed sampler throws UsageError.
template <lapse::Element T>
class Sampler {
 public:
  Sampler() = default;
  Sampler(const lapse::Table<T>& table, std::shared_ptr<SamplerState> state)
      : table_(table), state_(std::move(state)) {}

  const lapse::Table<T>& table() const { return table_; }

  // For the library.
  const std::shared_ptr<SamplerState>& state() const { return state_; }

 private:
  lapse::Table<T> table_;
  std::shared_ptr<SamplerState> state_;
};

// The part of a PreparedSample that does not depend on the element type.
class LAPSE_EXPORT SampleHandle {
 public:
  // For the library. Prepared for a worker in a phase. `stream`: the sampler's stream, which gets the keys
  // back.
  SampleHandle(std::shared_ptr<SamplerState> sampler, SampleStream& stream,
               std::unique_ptr<PreparedKeys> keys, std::uint64_t phase, std::size_t worker);
  SampleHandle(SampleHandle&& other) noexcept;
  SampleHandle& operator=(SampleHandle&& other) noexcept;
  ~SampleHandle();

  // The numbers of keys prepared, and not yet taken; 0 if the sample is finished.
  std::size_t size() const;
  std::size_t left() const;

  // For the library. Null if the sample is finished or was moved from.
  PreparedKeys* keys() { return keys_.get(); }
  SamplerState& sampler() { return *sampler_; }
  std::uint64_t phase() const { return phase_; }
  std::size_t worker() const { return worker_; }
  // Ends the sample; its memory is reused. May be called twice.
  void finish() noexcept;

 private:
  std::shared_ptr<SamplerState> sampler_;
  SampleStream* stream_;
  std::unique_ptr<PreparedKeys> keys_;
  std::uint64_t phase_;
  std::size_t worker_;
};

// Keys that a worker may pull. Made by prepare_sample; its destructor finishes it. Used by one thread at a
// time, by the worker that it was prepared for, in the same phase.
template <lapse::Element T>
class PreparedSample : public SampleHandle {
 public:
  PreparedSample(const lapse::Table<T>& table, SampleHandle handle)
      : SampleHandle(std::move(handle)), table_(table) {}

  const lapse::Table<T>& table() const { return table_; }

 private:
  lapse::Table<T> table_;
};

}  // namespace adapm
