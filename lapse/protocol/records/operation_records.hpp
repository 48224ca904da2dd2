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
    case OperationKind::pull_elements:
      return FrameKind::pull_elements;
    case OperationKind::push_elements:
      return FrameKind::push_elements;
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
    case OperationKind::pull_elements:
      return FrameKind::pull_elements_answer;
    case OperationKind::push:
    case OperationKind::set:
    case OperationKind::push_elements:
      return FrameKind::push_answer;
    case OperationKind::localize:
      break;
  }
  return FrameKind::localize_answer;
}

// pull: this; push and set: this, then the update's elements; pull_elements and push_elements: this, then an
// ElementPayload.
struct OperationRecord {
  std::uint64_t key = 0;
  std::uint32_t item = 0;  // the requester's number for this key within the operation
  float scale = 1;         // push, push_elements: of the learning rate
};
static_assert(sizeof(OperationRecord) == 16);

// call: this, then the argument.
struct CallRecord {
  std::uint64_t key = 0;
  std::uint32_t item = 0;
  std::uint32_t function = 0;  // in the order of registration
};
static_assert(sizeof(CallRecord) == sizeof(OperationRecord));

// push_answer: this. pull_answer and pull_elements_answer: this, then the elements. call_answer: this, then
// the result. In tables whose keys can have replicas, the version of the main copy (8 bytes) follows this in
// all four.
// failed_answer: this, then the message of the exception.
struct AnswerRecord {
  std::uint32_t item = 0;
};
static_assert(sizeof(AnswerRecord) == 4);

}  // namespace lapse
