// Queues what waits for a key, in the order in which it reached the key's serving rank.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/table/lease_asker.hpp"
#include "lapse/protocol/table/operation_part.hpp"

namespace lapse {

// Holds operations, lease requests, messages about replicas and an INSTRUCT that reach a key while it is
// arriving or leased. Pure bookkeeping: no messages, no store. Thread safety: the holder of the progress
// lock.
//
// Guarantee: entries are drained in the order of their pushes, including entries pushed while draining.
class KeyQueue {
 public:
  using Clock = std::chrono::steady_clock;

  // The home's order to transfer ownership.
  struct Instruct {
    Domain next;
    std::uint32_t relocations = 0;  // how often the key has moved, including this time
  };

  // ON, DELTA or OFF of a domain.
  struct CopyMessage {
    FrameKind kind = FrameKind::on;
    Domain from;
    bool bit = false;
    bool awaited = false;
    std::uint32_t delta_bytes = 0;
    const std::byte* delta = nullptr;
  };

  // `update_bytes`: the length of part.value, which is copied.
  void push(const OperationPart& part, std::size_t update_bytes, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  void push(const LeaseAsker& asker, Clock::time_point now) LAPSE_REQUIRES(progress_role) {
    queue_.push_back({asker, 0, now});
  }
  // The delta is copied.
  void push(const CopyMessage& message, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  void push(const Instruct& instruct, Clock::time_point now) LAPSE_REQUIRES(progress_role) {
    queue_.push_back({instruct, 0, now});
    holds_instruct_ = true;
  }

  bool empty() const LAPSE_REQUIRES(progress_role) { return queue_.empty(); }
  std::size_t size() const LAPSE_REQUIRES(progress_role) { return queue_.size(); }
  // Bytes of the updates of queued operations, including some that are drained already.
  std::size_t update_bytes() const LAPSE_REQUIRES(progress_role) { return updates_.size(); }
  bool holds_instruct() const LAPSE_REQUIRES(progress_role) { return holds_instruct_; }
  void clear() LAPSE_REQUIRES(progress_role);

  struct Counts {
    std::uint32_t operations = 0;
    std::uint32_t requests = 0;  // for a lease
  };
  Counts counts() const LAPSE_REQUIRES(progress_role);

  // How draining has ended.
  enum class End : std::uint8_t {
    open,    // the queue is empty
    leased,  // a lease request got the key; the entries after it stay queued
    left,    // the value has been transferred; the queue is empty
  };
  // Calls, for each entry in order, handler.waited(since), and then
  //   execute(part)       for an operation: on the value;
  //   take(message)       for a message about replicas;
  //   grant(asker)        for a lease request: the key is leased to it, draining ends;
  //   transfer(instruct)  for an INSTRUCT; then, for each entry after it, forward(part), forward(message) or
  //                       ask_again(asker).
  template <class Handler>
  End drain(Handler&& handler) LAPSE_REQUIRES(progress_role);
  // Replaces drain if no value arrives: calls forward(part), forward(message) or ask_again(asker) for each
  // entry in order. Requires that no INSTRUCT is queued.
  template <class Handler>
  void send_away(Handler&& handler) LAPSE_REQUIRES(progress_role) {
    send_away_from(0, handler);
  }

 private:
  struct Entry {
    std::variant<OperationPart, LeaseAsker, Instruct, CopyMessage> what;
    std::size_t update_offset = 0;  // of an operation with an update, or of a delta, in updates_
    Clock::time_point since;
  };

  // Return an entry's operation with its update, or its message with its delta.
  OperationPart operation(const Entry& entry) const LAPSE_REQUIRES(progress_role);
  CopyMessage message(const Entry& entry) const LAPSE_REQUIRES(progress_role);
  // Copies bytes for an entry that is about to be pushed; returns their offset.
  std::size_t keep(const std::byte* bytes, std::size_t count) LAPSE_REQUIRES(progress_role);
  void drop_front(std::size_t count) LAPSE_REQUIRES(progress_role);
  template <class Handler>
  void send_away_from(std::size_t position, Handler& handler) LAPSE_REQUIRES(progress_role);

  std::vector<Entry> queue_ LAPSE_GUARDED_BY(progress_role);
  std::vector<std::byte> updates_ LAPSE_GUARDED_BY(progress_role);
  bool holds_instruct_ LAPSE_GUARDED_BY(progress_role) = false;
};

template <class Handler>
KeyQueue::End KeyQueue::drain(Handler&& handler) {
  // A handler may push, which may move entries and updates.
  for (std::size_t position = 0; position < queue_.size(); ++position) {
    const Entry entry = queue_[position];
    handler.waited(entry.since);
    if (std::holds_alternative<OperationPart>(entry.what)) {
      handler.execute(operation(entry));
    } else if (std::holds_alternative<CopyMessage>(entry.what)) {
      handler.take(message(entry));
    } else if (const auto* asker = std::get_if<LeaseAsker>(&entry.what)) {
      drop_front(position + 1);
      handler.grant(*asker);
      return End::leased;
    } else {
      handler.transfer(std::get<Instruct>(entry.what));
      send_away_from(position + 1, handler);
      return End::left;
    }
  }
  clear();
  return End::open;
}

template <class Handler>
void KeyQueue::send_away_from(std::size_t position, Handler& handler) {
  for (; position < queue_.size(); ++position) {
    if (const auto* asker = std::get_if<LeaseAsker>(&queue_[position].what)) {
      handler.ask_again(LeaseAsker(*asker));
    } else if (std::holds_alternative<CopyMessage>(queue_[position].what)) {
      handler.forward(message(queue_[position]));
    } else {
      handler.forward(operation(queue_[position]));
    }
  }
  clear();
}

}  // namespace lapse
