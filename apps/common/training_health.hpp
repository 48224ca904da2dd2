// Notices trainings that diverge.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "apps/common/training_job.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/ps/table.hpp"

namespace lapse::apps {

// So many times that of a model that has learned nothing is no loss, and no value, of a training that
// recovers.
inline constexpr double kDivergence = 1e6;

// What a table has on one rank, or on all.
struct ValueRange {
  float largest = 0;             // absolute, of the finite numbers of all values
  std::uint64_t not_finite = 0;  // numbers of values and of states of the update rule

  void operator+=(const ValueRange& other);

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& largest& not_finite;
  }
};

// Not collective. Of the keys that this rank serves, between phases.
ValueRange range_of(const Table<float>& table);

// What an epoch, or a part of one, is judged by; equal on all ranks.
struct TrainingHealth {
  std::uint64_t epoch = 0;          // from 1
  double rate = 0;                  // the learning rate
  std::optional<double> loss = {};  // or error; none: it was not computed
  double loss_of_nothing = 0;       // that of a model that has learned nothing; 0: losses are not bounded
  double value_scale = 1;           // values of a model that has learned are of this order
  std::span<const Table<float>> tables;
};

// Collective, between phases. Throws Error, on every rank the same, where the loss or a number in the tables
// is not finite, or either is kDivergence times too large. Before that, a checkpoint that `job`, which may
// be null, is writing in the background is finished: it is of an earlier state. To be called before the
// state is saved.
void require_healthy(ParameterServer& server, const TrainingHealth& health, TrainingJob* job);

}  // namespace lapse::apps
