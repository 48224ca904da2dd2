// Unfinished non-blocking MPI calls of one kind, tested together.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "lapse/transport/mpi/library/error.hpp"
#include "lapse/transport/mpi/library/lock.hpp"

namespace lapse {

// `Tag` identifies what a request is about. Requests complete in any order. The memory of a request must not
// move until the request is complete.
//
// Thread safety: none; functions that call MPI are called by the holder of the MPI lock.
template <class Tag>
class MpiRequestBag {
 public:
  bool empty() const { return requests_.empty(); }
  std::size_t size() const { return requests_.size(); }

  // Adds the request that begin() returns. Reserves its entry first, so that a request in flight, whose
  // memory MPI uses, is never lost. Throws std::bad_alloc before calling begin, and what begin throws.
  template <class Begin>
  void start(Tag tag, Begin begin) LAPSE_REQUIRES(mpi_role) {
    static_assert(std::is_nothrow_move_constructible_v<Tag>);
    if (requests_.size() == requests_.capacity()) requests_.reserve(std::max(kWindow, 2 * requests_.size()));
    if (tags_.size() == tags_.capacity()) tags_.reserve(requests_.capacity());
    const MPI_Request request = begin();
    requests_.push_back(request);
    tags_.push_back(std::move(tag));
  }

  // Tests up to kWindow requests, different ones each time, and calls on_done(Tag, const MPI_Status&) for
  // each complete one. on_done must not add to the bag. Returns whether some were complete.
  template <class OnDone>
  bool test(OnDone on_done) LAPSE_REQUIRES(mpi_role) {
    if (requests_.empty()) return false;
    if (cursor_ >= requests_.size()) cursor_ = 0;
    const std::size_t tested = std::min(kWindow, requests_.size() - cursor_);
    std::array<int, kWindow> completed;
    std::array<MPI_Status, kWindow> statuses;
    int count = 0;
    if (tested == 1) {
      completed[0] = 0;
      check_mpi(MPI_Test(&requests_[cursor_], &count, statuses.data()), "MPI_Test");
    } else {
      check_mpi(MPI_Testsome(static_cast<int>(tested), &requests_[cursor_], &count, completed.data(),
                             statuses.data()),
                "MPI_Testsome");
      if (count == MPI_UNDEFINED) count = 0;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      on_done(std::move(tags_[cursor_ + static_cast<std::size_t>(completed[i])]), statuses[i]);
    }
    remove_completed(cursor_ + tested);
    return count > 0;
  }

  // Drops the requests after a failure. Tests each once more, after MPI_Cancel if `cancel` is set (receives).
  // MPI may continue to use the memory of a request that is still incomplete: calls on_lost(Tag) for it,
  // which must keep that memory indefinitely. Returns how many requests were incomplete before.
  template <class OnLost>
  std::size_t abandon(bool cancel, OnLost on_lost) LAPSE_REQUIRES(mpi_role) {
    const std::size_t unfinished = requests_.size();
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (cancel) check_mpi(MPI_Cancel(&requests_[i]), "MPI_Cancel");
      int done = 0;
      check_mpi(MPI_Test(&requests_[i], &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done) continue;
      check_mpi(MPI_Request_free(&requests_[i]), "MPI_Request_free");
      on_lost(std::move(tags_[i]));
    }
    requests_.clear();
    tags_.clear();
    return unfinished;
  }

 private:
  static constexpr std::size_t kWindow = 32;

  // MPI has replaced the completed requests of the window by MPI_REQUEST_NULL: fill those places with the
  // last requests.
  void remove_completed(std::size_t window_end) {
    for (std::size_t i = cursor_; i < std::min(window_end, requests_.size());) {
      if (requests_[i] != MPI_REQUEST_NULL) {
        ++i;
        continue;
      }
      requests_[i] = requests_.back();
      tags_[i] = std::move(tags_.back());
      requests_.pop_back();
      tags_.pop_back();
    }
    cursor_ = window_end;
  }

  std::vector<MPI_Request> requests_;
  std::vector<Tag> tags_;
  std::size_t cursor_ = 0;
};

}  // namespace lapse
