#include "bench/plain_factorization.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <thread>

#include "bench/support/joint_timer.hpp"

namespace lapse::bench {

namespace {

// Copies the factors with these numbers, relative to `first`, to a separate array.
void gather(std::span<const float> factors, std::uint64_t first, std::span<const std::uint32_t> ids,
            std::size_t length, float* to) {
  for (const std::uint32_t id : ids) {
    to = std::copy_n(factors.data() + (first + id) * length, length, to);
  }
}

// Copies such an array back to the factors with these numbers.
void scatter(const float* from, std::uint64_t first, std::span<const std::uint32_t> ids, std::size_t length,
             std::span<float> factors) {
  for (const std::uint32_t id : ids) {
    std::copy_n(from, length, factors.data() + (first + id) * length);
    from += length;
  }
}

}  // namespace

PlainFactorization::PlainFactorization(MPI_Comm communicator, std::size_t threads,
                                       const apps::FactorizationProblem& problem,
                                       const apps::FactorModel& model, const apps::BlockSchedule& schedule,
                                       std::span<const float> factors)
    : communicator_(communicator),
      model_(model),
      row_count_(problem.rows),
      column_count_(problem.columns),
      column_ids_(schedule.workers()),
      held_(threads) {
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &ranks_);
  first_worker_ = static_cast<std::size_t>(rank_) * threads;
  std::size_t largest = 0;
  for (std::size_t part = 0; part < column_ids_.size(); ++part) {
    const auto ids = schedule.columns.ids_with_work(part);
    column_ids_[part].assign(ids.begin(), ids.end());
    largest = std::max(largest, ids.size());
  }
  buffers_.resize(threads + 1, std::vector<float>(largest * model.length()));
  spare_ = buffers_.back().data();
  for (std::size_t t = 0; t < threads; ++t) {
    threads_.push_back(make_thread(apps::WorkerCells(problem.train, schedule, first_worker_ + t), schedule));
    gather(factors, 0, threads_[t].row_ids, model_.length(), threads_[t].rows.data());
    held_[t] = buffers_[t].data();
    gather(factors, row_count_, column_ids_[part(t, 0)], model_.length(), held_[t]);
  }
}

PlainFactorization::Thread PlainFactorization::make_thread(const apps::WorkerCells& cells,
                                                           const apps::BlockSchedule& schedule) const {
  std::vector<std::uint32_t> row_positions(row_count_);
  std::vector<std::uint32_t> column_positions(column_count_);
  Thread thread;
  thread.row_ids.assign(cells.rows().begin(), cells.rows().end());
  thread.rows.resize(thread.row_ids.size() * model_.length());
  for (std::uint32_t i = 0; i < thread.row_ids.size(); ++i) row_positions[thread.row_ids[i]] = i;
  for (const auto& ids : column_ids_) {
    for (std::uint32_t i = 0; i < ids.size(); ++i) column_positions[ids[i]] = i;
  }
  for (std::size_t block = 0; block < schedule.workers(); ++block) {
    auto& placed = thread.blocks.emplace_back(cells.block(block).begin(), cells.block(block).end());
    for (io::Cell& cell : placed) {
      cell.row = row_positions[cell.row];
      cell.column = column_positions[cell.column];
    }
  }
  return thread;
}

double PlainFactorization::run_epoch(const apps::SgdSteps& steps) {
  Barrier barrier(static_cast<std::ptrdiff_t>(threads_.size()), PassOn{this});
  std::barrier<> start(static_cast<std::ptrdiff_t>(threads_.size()));
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < threads_.size(); ++t) {
    others.emplace_back([this, t, &steps, &start, &barrier] {
      start.arrive_and_wait();
      train_all(t, steps, barrier);
    });
  }
  MPI_Barrier(communicator_);
  const Clock::time_point begin = Clock::now();
  start.arrive_and_wait();
  train_all(0, steps, barrier);
  MPI_Barrier(communicator_);
  return seconds_between(begin, Clock::now());
}

void PlainFactorization::train_all(std::size_t thread, const apps::SgdSteps& steps, Barrier& barrier) {
  const bool communicates = thread == 0 && ranks_ > 1;
  for (std::size_t subepoch = 0; subepoch < column_ids_.size(); ++subepoch) {
    MPI_Request receive = communicates ? start_receive(subepoch) : MPI_REQUEST_NULL;
    train(threads_[thread], part(thread, subepoch), held_[thread], steps);
    if (communicates) exchange(subepoch, receive);
    barrier.arrive_and_wait();
  }
}

void PlainFactorization::train(Thread& thread, std::size_t part, float* columns,
                               const apps::SgdSteps& steps) const {
  const std::size_t length = model_.length();
  float* const rows = thread.rows.data();
  for (const io::Cell& cell : thread.blocks[part]) {
    model_.step(rows + cell.row * length, columns + cell.column * length, cell.value, steps);
  }
}

MPI_Request PlainFactorization::start_receive(std::size_t subepoch) {
  MPI_Request receive = MPI_REQUEST_NULL;
  MPI_Irecv(spare_, block_size(part(threads_.size() - 1, subepoch + 1)), MPI_FLOAT, (rank_ + 1) % ranks_, 0,
            communicator_, &receive);
  return receive;
}

void PlainFactorization::exchange(std::size_t subepoch, MPI_Request receive) {
  std::array<MPI_Request, 2> requests{receive, MPI_REQUEST_NULL};
  MPI_Isend(held_[0], block_size(part(0, subepoch)), MPI_FLOAT, (rank_ + ranks_ - 1) % ranks_, 0,
            communicator_, &requests[1]);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void PlainFactorization::pass_on() {
  std::rotate(held_.begin(), held_.begin() + 1, held_.end());
  if (ranks_ > 1) std::swap(held_.back(), spare_);
}

std::vector<float> PlainFactorization::factors() const {
  const std::size_t length = model_.length();
  // For each element, all ranks except one have 0, so the sum is exact.
  std::vector<float> all((row_count_ + column_count_) * length);
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    scatter(threads_[t].rows.data(), 0, threads_[t].row_ids, length, all);
    scatter(held_[t], row_count_, column_ids_[part(t, 0)], length, all);
  }
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_FLOAT, MPI_SUM, communicator_);
  return all;
}

}  // namespace lapse::bench
