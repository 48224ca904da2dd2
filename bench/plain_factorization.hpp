// Matrix factorization, hand-written with MPI and threads.
#pragma once

#include <mpi.h>

#include <barrier>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/problem.hpp"
#include "apps/matrix_factorization/schedule.hpp"

namespace lapse::bench {

// Distributed stochastic gradient descent by blocks (Gemulla et al., KDD'11) without a server: the same
// schedule, cells and arithmetic as the server's workers, so that the factors are bitwise equal.
//
// Each thread owns the rows of its part in an array. A column block is an array that is passed on after every
// subepoch: within a rank by pointer; from a rank's first thread to the previous rank's last thread by a
// message, sent when the first thread has finished, without waiting for the other threads. Each rank has one
// more buffer than threads, to receive the next block; no block is ever copied.
//
// Thread safety: used by the main thread of each rank, which is its first thread and the only one that calls
// MPI. Every call is collective over the ranks.
class PlainFactorization {
 public:
  // `factors`: the initial factors, rows then columns of the matrix, the same on every rank. Model, schedule
  // and communicator must outlive the object. The schedule has ranks x threads workers.
  PlainFactorization(MPI_Comm communicator, std::size_t threads, const apps::FactorizationProblem& problem,
                     const apps::FactorModel& model, const apps::BlockSchedule& schedule,
                     std::span<const float> factors);
  PlainFactorization(const PlainFactorization&) = delete;
  PlainFactorization& operator=(const PlainFactorization&) = delete;

  // Visits each cell once. Returns the seconds from one barrier of all threads of all ranks to the next.
  double run_epoch(const apps::SgdSteps& steps);

  // Rows, then columns.
  std::vector<float> factors() const;

 private:
  struct Thread {
    std::vector<std::uint32_t> row_ids;
    std::vector<float> rows;  // in the order of row_ids
    // By column part: the cells in visiting order; row and column are positions in `rows` and in the block.
    std::vector<std::vector<io::Cell>> blocks;
  };
  // Passes the column blocks on once all threads have finished theirs.
  struct PassOn {
    PlainFactorization* owner;
    void operator()() const noexcept { owner->pass_on(); }
  };
  using Barrier = std::barrier<PassOn>;

  Thread make_thread(const apps::WorkerCells& cells, const apps::BlockSchedule& schedule) const;
  void train_all(std::size_t thread, const apps::SgdSteps& steps, Barrier& barrier);
  void train(Thread& thread, std::size_t part, float* columns, const apps::SgdSteps& steps) const;
  // The part that a thread works on in a subepoch.
  std::size_t part(std::size_t thread, std::size_t subepoch) const {
    return (first_worker_ + thread + subepoch) % column_ids_.size();
  }
  int block_size(std::size_t part) const {
    return static_cast<int>(column_ids_[part].size() * model_.length());
  }
  MPI_Request start_receive(std::size_t subepoch);
  void exchange(std::size_t subepoch, MPI_Request receive);
  void pass_on();

  MPI_Comm communicator_;
  int rank_ = 0;
  int ranks_ = 1;
  const apps::FactorModel& model_;
  std::uint64_t row_count_;
  std::uint64_t column_count_;
  std::size_t first_worker_ = 0;                        // of this rank, in the schedule
  std::vector<std::vector<std::uint32_t>> column_ids_;  // by part
  std::vector<Thread> threads_;
  std::vector<std::vector<float>> buffers_;
  std::vector<float*> held_;  // by thread: its column block
  float* spare_ = nullptr;    // the next block of the last thread arrives here
};

}  // namespace lapse::bench
