// A block of metal, divided among the ranks, through which a beam of heat moves.
#pragma once

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "examples/solver/heat_matrix.hpp"
#include "examples/solver/material.hpp"

namespace solver {

class HeatedBlock {
 public:
  explicit HeatedBlock(MPI_Comm communicator)
      : communicator_(communicator), matrix_(communicator, kSide), temperature_(matrix_.halo().own(), 300) {}

  bool finished() const { return step_ == kSteps; }

  // The distinct states of the rank's cells.
  std::set<State> states() const {
    std::set<State> states;
    for (std::size_t i = 0; i < matrix_.halo().own(); ++i) states.insert(state_of_cell(i));
    return states;
  }

  // Collective. `law`: the conductivity for each state of the rank's cells.
  void step(const std::map<State, double>& law) {
    std::vector<double> conductivity;
    for (std::size_t i = 0; i < matrix_.halo().own(); ++i) conductivity.push_back(law.at(state_of_cell(i)));
    matrix_.assemble(conductivity);
    const Index beam = kSide * kSide * kSide * step_++ / kSteps;
    std::vector<double> heat = temperature_;
    if (matrix_.halo().is_own(beam)) heat[matrix_.halo().position(beam)] += 4000;
    iterations_ += matrix_.solve(heat, temperature_);
  }

  // Collective. Rank 0 prints the result.
  void print(long evaluations) const {
    MPI_Allreduce(MPI_IN_PLACE, &evaluations, 1, MPI_LONG, MPI_SUM, communicator_);
    double hottest = *std::max_element(temperature_.begin(), temperature_.begin() + matrix_.halo().own());
    MPI_Allreduce(MPI_IN_PLACE, &hottest, 1, MPI_DOUBLE, MPI_MAX, communicator_);
    if (matrix_.halo().begin() == 0)
      std::printf("%d steps, %d iterations, at most %.3f K\n%ld evaluations of the law\n", step_, iterations_,
                  hottest, evaluations);
  }

 private:
  static constexpr Index kSide = 18;
  static constexpr int kSteps = 30;

  State state_of_cell(std::size_t i) const {
    return state_of(temperature_[i], static_cast<std::uint64_t>(matrix_.halo().begin()) + i);
  }

  MPI_Comm communicator_;
  HeatMatrix matrix_;
  std::vector<double> temperature_;
  int step_ = 0;
  int iterations_ = 0;
};

}  // namespace solver
