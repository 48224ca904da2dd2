#include "lapse/protocol/table/key_queue.hpp"

#include <algorithm>

#include "lapse/protocol/host/frames.hpp"

namespace lapse {

namespace {
bool has_update(OperationKind kind) {
  return kind != OperationKind::pull;
}
}  // namespace

std::size_t KeyQueue::keep(const std::byte* bytes, std::size_t count) {
  // Aligned for any element type.
  updates_.resize(padded_bytes(updates_.size()));
  const std::size_t offset = updates_.size();
  updates_.insert(updates_.end(), bytes, bytes + count);
  return offset;
}

void KeyQueue::push(const OperationPart& part, std::size_t update_bytes, Clock::time_point now) {
  Entry entry{part, 0, now};
  if (has_update(part.kind)) entry.update_offset = keep(part.value, update_bytes);
  std::get<OperationPart>(entry.what).value = nullptr;
  queue_.push_back(entry);
}

void KeyQueue::push(const CopyMessage& message, Clock::time_point now) {
  Entry entry{message, 0, now};
  if (message.delta != nullptr) entry.update_offset = keep(message.delta, message.delta_bytes);
  std::get<CopyMessage>(entry.what).delta = nullptr;
  queue_.push_back(entry);
}

void KeyQueue::clear() {
  queue_.clear();
  updates_.clear();
  holds_instruct_ = false;
}

KeyQueue::Counts KeyQueue::counts() const {
  Counts counts;
  for (const Entry& entry : queue_) {
    if (std::holds_alternative<OperationPart>(entry.what)) ++counts.operations;
    if (std::holds_alternative<LeaseAsker>(entry.what)) ++counts.requests;
  }
  return counts;
}

OperationPart KeyQueue::operation(const Entry& entry) const {
  OperationPart part = std::get<OperationPart>(entry.what);
  if (has_update(part.kind)) part.value = updates_.data() + entry.update_offset;
  return part;
}

KeyQueue::CopyMessage KeyQueue::message(const Entry& entry) const {
  CopyMessage message = std::get<CopyMessage>(entry.what);
  if (message.delta_bytes != 0) message.delta = updates_.data() + entry.update_offset;
  return message;
}

void KeyQueue::drop_front(std::size_t count) {
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count));
  // Updates are stored in the order of the queue; drained ones are erased once they are more than half.
  std::size_t first = updates_.size();
  for (const Entry& entry : queue_) {
    const auto* part = std::get_if<OperationPart>(&entry.what);
    const auto* message = std::get_if<CopyMessage>(&entry.what);
    const bool kept =
        part != nullptr ? has_update(part->kind) : message != nullptr && message->delta_bytes != 0;
    if (!kept) continue;
    first = entry.update_offset;
    break;
  }
  if (first <= updates_.size() / 2) return;
  updates_.erase(updates_.begin(), updates_.begin() + static_cast<std::ptrdiff_t>(first));
  for (Entry& entry : queue_) entry.update_offset -= std::min(first, entry.update_offset);
}

}  // namespace lapse
