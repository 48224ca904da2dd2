#include "lapse/protocol/group/collective.hpp"

#include <algorithm>
#include <cstring>

#include "lapse/core/error.hpp"

namespace lapse {

void Collective::start(std::vector<Rank> participants, Rank self, TreeReduction::Combine combine,
                       std::function<bool(const Bytes&)> is_end,
                       std::function<void(const Bytes&)> take_result, CombinationPoint* point) {
  progress_role.assert_held();  // No engine runs.
  participants_ = std::move(participants);
  rounds_at_start_ = completed_rounds();
  is_end_ = std::move(is_end);
  take_result_ = std::move(take_result);
  point_ = point;
  const auto found = std::find(participants_.begin(), participants_.end(), self);
  tree_.reset();
  if (found != participants_.end()) {
    tree_.emplace(static_cast<std::int32_t>(participants_.size()),
                  static_cast<std::int32_t>(found - participants_.begin()), std::move(combine));
  }
}

void Collective::handle_submission(Submission& submission) {
  if (!tree_) throw ProtocolError("a collective call on a rank that takes no part in it");
  advance(tree_->contribute(std::move(static_cast<Contribution&>(submission).bytes)));
}

void Collective::handle_frame(Rank from, const FrameHeader& header, const std::byte* records) {
  const auto position = std::find(participants_.begin(), participants_.end(), from);
  if (!tree_ || position == participants_.end()) {
    throw ProtocolError("a collective call of a rank that takes no part in it");
  }
  if (header.table != round()) throw ProtocolError("a collective call of another round than this rank's");
  const auto sender = static_cast<std::int32_t>(position - participants_.begin());
  Bytes bytes(records, records + std::size_t{header.count} * header.record_bytes);
  if (static_cast<FrameKind>(header.kind) == frames_[0].kind) {
    advance(tree_->receive(sender, std::move(bytes)));
    return;
  }
  if (tree_->parent() != sender)
    throw ProtocolError("the result of a collective call from a rank that is no parent");
  finish(std::move(bytes));
}

void Collective::advance(std::optional<Bytes> combined) {
  if (!combined) return;
  const auto parent = tree_->parent();
  if (point_ != nullptr) point_->before_sending(*combined, parent.has_value());
  if (parent) send(frames_[0], participants_[static_cast<std::size_t>(*parent)], *combined);
  if (point_ != nullptr) point_->after_sending(*combined);
  if (parent) return;
  if (!is_end_ || !is_end_(*combined)) {
    finish(std::move(*combined));
  }
}

void Collective::finish(Bytes result) {
  for (const std::int32_t child : tree_->children()) {
    send(frames_[1], participants_[static_cast<std::size_t>(child)], result);
  }
  result_ = std::move(result);
  rounds_.fetch_add(1, std::memory_order_release);
  if (take_result_) take_result_(result_);
  completed_();
}

void Collective::send(const FrameSpec& frame, Rank to, const Bytes& bytes) {
  FrameHeader header = FrameHeader::of(frame.kind, round(), number_);
  header.record_bytes = static_cast<std::uint32_t>(bytes.size());
  std::byte* record = outbox_.append(to, header);
  if (!bytes.empty()) std::memcpy(record, bytes.data(), bytes.size());
}

}  // namespace lapse
