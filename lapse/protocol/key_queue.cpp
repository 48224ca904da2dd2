#include "lapse/protocol/key_queue.hpp"

#include <algorithm>

#include "lapse/protocol/frames.hpp"

namespace lapse {

namespace {
bool has_update(OperationKind kind) {
  return kind != OperationKind::pull;
}
}  // namespace

void KeyQueue::push(const OperationPart& part, std::size_t update_bytes, Clock::time_point now) {
  Entry entry{part, 0, now};
  if (has_update(part.kind)) {
    // Aligned for any element type.
    updates_.resize(padded_bytes(updates_.size()));
    entry.update_offset = updates_.size();
    updates_.insert(updates_.end(), part.value, part.value + update_bytes);
  }
  std::get<OperationPart>(entry.what).value = nullptr;
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

void KeyQueue::drop_front(std::size_t count) {
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count));
  // Updates are stored in the order of the queue; drained updates are erased once they are more than half.
  std::size_t first = updates_.size();
  for (const Entry& entry : queue_) {
    const auto* part = std::get_if<OperationPart>(&entry.what);
    if (part == nullptr || !has_update(part->kind)) continue;
    first = entry.update_offset;
    break;
  }
  if (first <= updates_.size() / 2) return;
  updates_.erase(updates_.begin(), updates_.begin() + static_cast<std::ptrdiff_t>(first));
  for (Entry& entry : queue_) entry.update_offset -= std::min(first, entry.update_offset);
}

}  // namespace lapse
