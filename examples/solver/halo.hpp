// Vectors in blocks, one on each rank, and messages that exchange elements of other ranks.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace solver {

using Index = std::int64_t;  // global index of an element

class Halo {
 public:
  // Not collective: divides `elements` into a block for each rank.
  Halo(MPI_Comm communicator, Index elements) : communicator_(communicator) {
    MPI_Comm_rank(communicator, &rank_);
    MPI_Comm_size(communicator, &ranks_);
    for (int rank = 0; rank <= ranks_; ++rank) first_.push_back(elements * rank / ranks_);
  }

  Index begin() const { return first_[rank_]; }
  Index end() const { return first_[rank_ + 1]; }
  bool is_own(Index element) const { return element >= begin() && element < end(); }
  std::size_t own() const { return static_cast<std::size_t>(end() - begin()); }
  // Own elements, followed by those of other ranks.
  std::size_t all() const { return own() + others_.size(); }
  std::size_t position(Index element) const {
    if (is_own(element)) return static_cast<std::size_t>(element - begin());
    return own() + static_cast<std::size_t>(std::ranges::lower_bound(others_, element) - others_.begin());
  }

  // Collective. Sets the elements that the rank needs besides its own.
  void need(const std::vector<Index>& elements) {
    std::ranges::copy_if(elements, std::back_inserter(others_),
                         [&](Index element) { return !is_own(element); });
    std::ranges::sort(others_);
    others_.erase(std::unique(others_.begin(), others_.end()), others_.end());
    receives_.assign(ranks_, 0);
    for (const Index element : others_)
      ++receives_[std::ranges::upper_bound(first_, element) - first_.begin() - 1];
    sends_.assign(ranks_, 0);
    MPI_Alltoall(receives_.data(), 1, MPI_INT, sends_.data(), 1, MPI_INT, communicator_);
    for (const int count : sends_) sent_.resize(sent_.size() + count);
    exchange(others_.data(), receives_, sent_.data(), sends_, MPI_INT64_T);  // From receivers to senders.
  }

  // Collective. Receives the elements of other ranks.
  void fill(std::vector<double>& vector) const {
    vector.resize(all());
    std::vector<double> values;
    for (const Index element : sent_) values.push_back(vector[position(element)]);
    exchange(values.data(), sends_, vector.data() + own(), receives_, MPI_DOUBLE);
  }

  double dot(const std::vector<double>& a, const std::vector<double>& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < own(); ++i) sum += a[i] * b[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, communicator_);
    return sum;
  }

 private:
  template <class T>
  void exchange(const T* sent, const std::vector<int>& sends, T* received, const std::vector<int>& receives,
                MPI_Datatype type) const {
    constexpr int kTag = 1;
    std::vector<MPI_Request> requests;
    requests.reserve(2 * first_.size());
    for (int rank = 0; rank < ranks_; received += receives[rank++])
      if (receives[rank] > 0)
        MPI_Irecv(received, receives[rank], type, rank, kTag, communicator_, &requests.emplace_back());
    for (int rank = 0; rank < ranks_; sent += sends[rank++])
      if (sends[rank] > 0)
        MPI_Isend(sent, sends[rank], type, rank, kTag, communicator_, &requests.emplace_back());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  MPI_Comm communicator_;
  int rank_ = 0;
  int ranks_ = 0;
  std::vector<Index> first_;   // by rank, and the end
  std::vector<Index> others_;  // sorted
  std::vector<Index> sent_;    // in the order of the messages
  std::vector<int> receives_;  // by rank
  std::vector<int> sends_;
};

}  // namespace solver
