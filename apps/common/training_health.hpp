// Detects trainings that diverge.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "apps/common/training_job.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/ps/table.hpp"

namespace lapse::apps {

// A training with losses or values this many times those of an untrained model does not recover.
inline constexpr double kDivergence = 1e6;

// Values of a table, on one rank or on all.
struct ValueRange {
  float largest = 0;             // the largest absolute finite number of all values
  std::uint64_t not_finite = 0;  // infinite and NaN numbers in values and update rule states

  void operator+=(const ValueRange& other);

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& largest& not_finite;
  }
};

// Not collective, between phases. Covers the keys that this rank serves.
ValueRange range_of(const Table<float>& table);

// Criteria for an epoch, or a part of one; equal on all ranks.
struct TrainingHealth {
  std::uint64_t epoch = 0;                  // from 1
  double rate = 0;                          // the learning rate
  std::string_view rate_option = "--rate";  // that sets it
  std::optional<double> loss = {};          // or error; nullopt: not computed
  double loss_of_nothing = 0;               // the loss of an untrained model; 0: losses are not bounded
  double value_scale = 1;                   // the order of magnitude of a trained model's values
  std::span<const Table<float>> tables;
};

// Collective, between phases. Throws the same Error on every rank if the loss or a number in the tables is
// not finite, or kDivergence times too large. Before throwing, finishes a checkpoint that `job` (may be null)
// is writing in the background: it has an earlier state. Call it before the state is saved.
void require_healthy(ParameterServer& server, const TrainingHealth& health, TrainingJob* job);

}  // namespace lapse::apps
