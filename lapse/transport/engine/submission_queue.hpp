// Submissions of workers to the engine: an intrusive multi-producer, single-consumer queue.
#pragma once

#include <atomic>

#include "lapse/core/progress_role.hpp"

namespace lapse {

class SubmissionHandler;

// A worker's request to the engine. Owned by the submitter, who keeps it alive until it is handled.
struct Submission {
  SubmissionHandler* handler = nullptr;
  Submission* next = nullptr;
};

// Carries out submissions; called by the holder of the progress lock.
class SubmissionHandler {
 public:
  virtual void handle_submission(Submission& submission) LAPSE_REQUIRES(progress_role) = 0;

 protected:
  ~SubmissionHandler() = default;
};

// Thread safety: push by any thread; take_all by the holder of the progress lock. Guarantee: submissions are
// taken in the order in which their pushes took effect, so each producer's own order is kept.
class SubmissionQueue {
 public:
  void push(Submission& submission) {
    Submission* head = head_.load(std::memory_order_relaxed);
    do {
      submission.next = head;
    } while (!head_.compare_exchange_weak(head, &submission, std::memory_order_release,
                                          std::memory_order_relaxed));
  }

  bool empty() const { return head_.load(std::memory_order_acquire) == nullptr; }

  // Returns everything pushed so far, oldest first, linked by next; null if empty.
  Submission* take_all() LAPSE_REQUIRES(progress_role) {
    if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    Submission* newest = head_.exchange(nullptr, std::memory_order_acquire);
    Submission* oldest = nullptr;
    while (newest != nullptr) {
      Submission* next = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = next;
    }
    return oldest;
  }

 private:
  alignas(64) std::atomic<Submission*> head_{nullptr};
};

}  // namespace lapse
