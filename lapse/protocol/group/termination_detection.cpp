#include "lapse/protocol/group/termination_detection.hpp"

#include <cstring>
#include <utility>

#include "lapse/core/error.hpp"

namespace lapse {

namespace {

QuiescenceCounts decode(const Bytes& bytes) {
  QuiescenceCounts counts;
  if (bytes.size() != sizeof counts)
    throw ProtocolError("a wave of termination detection has a wrong length");
  std::memcpy(&counts, bytes.data(), sizeof counts);
  return counts;
}

void encode(const QuiescenceCounts& counts, Bytes& bytes) {
  bytes.resize(sizeof counts);
  std::memcpy(bytes.data(), &counts, sizeof counts);
}

}  // namespace

TerminationDetection::TerminationDetection(ModuleHost& host, const Registry& registry, Outbox& outbox,
                                           std::function<void()> completed)
    : host_(host),
      registry_(registry),
      wave_(outbox, FrameKind::wave_up, FrameKind::wave_down, [] {}),
      completed_(std::move(completed)) {}

void TerminationDetection::add_counts(Bytes& into, const Bytes& from) {
  QuiescenceCounts counts = decode(into);
  counts += decode(from);
  encode(counts, into);
}

void TerminationDetection::start() {
  progress_role.assert_held();  // No engine runs.
  std::vector<Rank> ranks;
  ranks.reserve(static_cast<std::size_t>(registry_.ranks()));
  for (std::int32_t rank = 0; rank < registry_.ranks(); ++rank) ranks.emplace_back(rank);
  wave_.start(std::move(ranks), registry_.self(), &add_counts);
  waves_ = wave_.completed_rounds();
  level_.reset();
  is_within_phase_ = false;
  all_wait_ = false;
  contributed_ = false;
  may_have_ended_ = false;
  host_.start_cuts();
}

void TerminationDetection::handle_submission(Submission& submission) {
  // Only after a failure, a detection within the phase may still run.
  if (level_ && !is_within_phase_) throw ProtocolError("a second detection of quiescence while one runs");
  level_ = static_cast<QuiescenceRequest&>(submission).level;
  is_within_phase_ = false;
  may_have_ended_ = false;
  request_end_turn();
}

void TerminationDetection::detect_within_phase(IdleLevel level) {
  if (host_.failure().raised()) return;
  if (level_) throw ProtocolError("a second detection of quiescence while one runs");
  level_ = level;
  is_within_phase_ = true;
  all_wait_ = true;
  request_end_turn();
}

QuiescenceCounts TerminationDetection::counts_at_barrier(IdleLevel level, bool sends) const {
  QuiescenceCounts counts = host_.counts_at_cut(level, CutNumber::Kind::barrier);
  if (sends) ++counts.sent;
  if (host_.failure().raised()) counts.busy = 1;
  return counts;
}

void TerminationDetection::end_barrier(IdleLevel level, const QuiescenceCounts& sums) {
  if (!sums.quiesced()) return detect_within_phase(level);
  completed_detections_.fetch_add(1, std::memory_order_release);
  completed_();
}

void TerminationDetection::handle_frame(Rank from, const FrameHeader& header, const std::byte* records) {
  wave_.handle_frame(from, header, records);
  if (wave_.completed_rounds() > waves_) take_result();
}

void TerminationDetection::take_result() {
  waves_ = wave_.completed_rounds();
  contributed_ = false;
  all_wait_ = true;
  const QuiescenceCounts sums = decode(wave_.result());
  none_in_flight_ = sums.none_in_flight();
  may_have_ended_ = sums.quiesced() && sums.waiting == 0;
  if (!sums.quiesced()) return;
  all_wait_ = false;
  // If the workers of other ranks continue, a rank without workers waits for the next detection.
  if (sums.waiting == 0 || is_within_phase_) level_.reset();
  is_within_phase_ = false;
  if (sums.waiting == 0) phases_ended_.fetch_add(1, std::memory_order_release);
  completed_detections_.fetch_add(1, std::memory_order_release);
  completed_();
}

bool TerminationDetection::may_contribute() const {
  if (is_within_phase_ && host_.failure().raised()) return false;
  return !all_wait_ || host_.idle(*level_);
}

void TerminationDetection::contribute() {
  QuiescenceCounts counts = host_.counts_at_cut(*level_, CutNumber::Kind::wave);
  host_.cut(CutNumber::Kind::wave);
  // The workers of other ranks may still write to memory that this rank shares.
  if (!all_wait_) counts.busy = 1;
  counts.waiting = is_within_phase_ ? 1 : 0;
  encode(counts, contribution_.bytes);
  contributed_ = true;
  may_have_ended_ = counts.busy == 0 && !is_within_phase_;
  wave_.handle_submission(contribution_);
  // If this rank is alone, or the root's contribution was the last, the wave has ended.
  if (wave_.completed_rounds() > waves_) take_result();
}

void TerminationDetection::end_turn() {
  none_in_flight_ = true;
  bool hastened = false;
  while (level_) {
    if (all_wait_ && !hastened) {
      host_.hasten(*level_);
      hastened = true;
    }
    // Frames in flight are handled in a later turn: a further wave in this one would find them in flight
    // again.
    if (contributed_ || !none_in_flight_ || !may_contribute()) break;
    contribute();
  }
  // Until the detection is completed, any turn may make the rank idle.
  if (level_) request_end_turn();
}

}  // namespace lapse
