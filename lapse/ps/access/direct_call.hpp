// A call on many keys that the worker carries out itself, holding the progress lock.
#pragma once

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/key/access.hpp"
#include "lapse/ps/access/local_access.hpp"
#include "lapse/ps/access/operation_builder.hpp"
#include "lapse/transport/engine/submission_queue.hpp"

namespace lapse {

// Accesses local keys, and routes and sends the others, piece by piece: the first packet leaves while the
// rest is built. The rows stay in the application's memory. For calls that run no code of the application.
//
// One step of the engine, which handles no message in between, unless another thread holds the latch of a
// key: messages do not wait for that thread. Then the call is not complete: the worker carries out the
// leading keys and submits it again. If memory runs out, the operation fails, and ends with the keys that
// were sent before.
//
// Thread safety: the worker's thread, on which the engine handles the submission.
class DirectCall final : public Submission, private SubmissionHandler {
 public:
  // `builder` has begun its operation.
  DirectCall(LocalAccess& local, OperationBuilder& builder, Access& access, Rank rank)
      : local_(local), builder_(builder), access_(access), rank_(rank) {
    handler = this;
  }

  bool is_complete() const { return is_complete_; }

 private:
  // Prepares the remaining keys for the time until the call is submitted again. Returns false if out of
  // memory.
  bool leave(OperationState& operation) LAPSE_REQUIRES(progress_role);
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  // Carries out the next keys, and makes items of those that are not done.
  void make_piece(OperationState& operation) LAPSE_REQUIRES(progress_role);

  LocalAccess& local_;
  OperationBuilder& builder_;
  Access& access_;
  const Rank rank_;
  bool is_complete_ = false;
};

}  // namespace lapse
