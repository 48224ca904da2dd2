// The format of operations and their answers.
#pragma once

#include <cstdint>

#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/table/operation_kind.hpp"

namespace lapse {

// The frames that carry an operation, and those that answer it if it succeeds.
constexpr FrameKind frame_kind(OperationKind kind) {
  switch (kind) {
    case OperationKind::pull:
      return FrameKind::pull;
    case OperationKind::push:
      return FrameKind::push;
    case OperationKind::set:
      return FrameKind::set;
    case OperationKind::call:
      return FrameKind::call;
    case OperationKind::localize:
      break;
  }
  return FrameKind::localize_for;
}
constexpr FrameKind answer_kind(OperationKind kind) {
  switch (kind) {
    case OperationKind::pull:
      return FrameKind::pull_answer;
    case OperationKind::call:
      return FrameKind::call_answer;
    case OperationKind::push:
    case OperationKind::set:
      return FrameKind::push_answer;
    case OperationKind::localize:
      break;
  }
  return FrameKind::localize_answer;
}

// pull: this; push and set: this, then the update's elements.
struct OperationRecord {
  std::uint64_t key = 0;
  std::uint32_t item = 0;  // the requester's number for this key within the operation
  float scale = 1;         // push: of the learning rate
};
static_assert(sizeof(OperationRecord) == 16);

// call: this, then the argument.
struct CallRecord {
  std::uint64_t key = 0;
  std::uint32_t item = 0;
  std::uint32_t function = 0;  // in the order of registration
};
static_assert(sizeof(CallRecord) == sizeof(OperationRecord));

// push_answer: this. pull_answer: this, then the value's elements. call_answer: this, then the result. In
// tables whose keys can have replicas, the version of the main copy (8 bytes) follows this in all three.
// failed_answer: this, then the message of the exception.
struct AnswerRecord {
  std::uint32_t item = 0;
};
static_assert(sizeof(AnswerRecord) == 4);

}  // namespace lapse
