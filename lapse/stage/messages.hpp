// Messages between the scheduler, on rank 0, and the runners of all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>

#include "lapse/core/error.hpp"
#include "lapse/ps/agreement/archive.hpp"
#include "lapse/stage/scheduler_events.hpp"

namespace lapse::stage {

// The first byte of a message.
enum class MessageKind : std::uint8_t {
  seat,         // scheduler to a rank of the group
  part_report,  // a rank to the scheduler
  cancel,       // likewise
  abort,        // scheduler to one rank of a group
  task_end,     // scheduler to all
  run_end,      // likewise
};

struct SeatMessage {
  static constexpr MessageKind kKind = MessageKind::seat;
  SeatPart part;
  std::vector<GroupNumber> retired;  // groups that have ended on all ranks

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& part& retired;
  }
};

// This rank's workers of a group have left.
struct PartReport {
  static constexpr MessageKind kKind = MessageKind::part_report;
  GroupNumber group = 0;
  bool failed = false;
  std::int32_t origin = 0;  // of the failure
  std::string text;
  double iteration_seconds = 0;
  double preparation_seconds = 0;
  bool ends_task = false;

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& group& failed& origin& text& iteration_seconds& preparation_seconds& ends_task;
  }
};

struct CancelMessage {
  static constexpr MessageKind kKind = MessageKind::cancel;
  std::uint64_t task = 0;

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& task;
  }
};

struct AbortMessage {
  static constexpr MessageKind kKind = MessageKind::abort;
  GroupNumber group = 0;
  std::string text;

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& group& text;
  }
};

struct TaskEndMessage {
  static constexpr MessageKind kKind = MessageKind::task_end;
  std::uint64_t task = 0;
  TaskResult result;

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& task& result;
  }
};

struct RunEndMessage {
  static constexpr MessageKind kKind = MessageKind::run_end;
  RunEnd end = RunEnd::finished;
  GroupNumber last_group = 0;
  std::vector<TaskEndMessage> left;  // how far the tasks are that have not ended

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& end& last_group& left;
  }
};

template <class Message>
std::string to_bytes(const Message& message) {
  return static_cast<char>(Message::kKind) + to_archive(message);
}

inline MessageKind kind_of(std::span<const std::byte> bytes) {
  if (bytes.empty()) throw ProtocolError("an empty message about stages");
  return static_cast<MessageKind>(bytes[0]);
}

// Throws ProtocolError if the bytes are not those of such a message.
template <class Message>
Message from_bytes(std::span<const std::byte> bytes) {
  return from_archive<Message>(
      std::string(reinterpret_cast<const char*>(bytes.data()) + 1, bytes.size() - 1));
}

}  // namespace lapse::stage
