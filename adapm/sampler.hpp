// Samplers of keys, and the samples that were prepared with them.
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

// Draws keys of a table by a distribution, for the workers of all ranks; made by
// ParameterManager::create_sampler. A cheap handle, valid as long as the manager. One that nothing was
// assigned to has no table: every call that needs it throws UsageError.
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

// The part of a PreparedSample without its element type.
class LAPSE_EXPORT SampleHandle {
 public:
  // For the library: prepared for a worker in a phase; `stream`: of this sampler, gets the keys back.
  SampleHandle(std::shared_ptr<SamplerState> sampler, SampleStream& stream,
               std::unique_ptr<PreparedKeys> keys, std::uint64_t phase, std::size_t worker);
  SampleHandle(SampleHandle&& other) noexcept;
  SampleHandle& operator=(SampleHandle&& other) noexcept;
  ~SampleHandle();

  // Keys that were prepared, and those that have not been taken yet; 0 when the sample is finished.
  std::size_t size() const;
  std::size_t left() const;

  // For the library. Null when the sample is finished or was moved from.
  PreparedKeys* keys() { return keys_.get(); }
  SamplerState& sampler() { return *sampler_; }
  std::uint64_t phase() const { return phase_; }
  std::size_t worker() const { return worker_; }
  // Ends the sample: its memory is used again. Twice is fine.
  void finish() noexcept;

 private:
  std::shared_ptr<SamplerState> sampler_;
  SampleStream* stream_;
  std::unique_ptr<PreparedKeys> keys_;
  std::uint64_t phase_;
  std::size_t worker_;
};

// Keys that a worker may pull, as many as were asked for. Made by prepare_sample; its destructor finishes it.
// Used by one thread at a time, and by the worker that it was prepared for, in the phase of the preparation.
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
