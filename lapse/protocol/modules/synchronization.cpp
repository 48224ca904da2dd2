#include "lapse/protocol/modules/synchronization.hpp"

#include <algorithm>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/protocol/modules/domain_peers.hpp"

namespace lapse {

namespace {

constexpr Replication::CutUser kUser = Replication::CutUser::sync;

template <class Record>
Record sync_record(const FrameHeader& header, const std::byte* records, std::uint32_t at) {
  return record_of<Record>(header, records, at, "a message about a sync has a wrong length");
}

}  // namespace

Synchronization::Synchronization(const Registry& registry, Outbox& outbox, Replication& replication)
    : registry_(registry), outbox_(outbox), replication_(replication) {}

bool Synchronization::has_work() const {
  return std::ranges::any_of(registry_.tables(),
                             [](const auto& table) { return table->store().may_have_copies(); });
}

// --- for workers of the domain

void Synchronization::handle_submission(Submission& submission) {
  auto& request = static_cast<SyncRequest&>(submission);
  const std::uint64_t worker = request.worker->local_index();
  const std::vector<Rank> ranks = members_of_domain(registry_);
  request.unanswered = ranks.size();
  for (const Rank rank : ranks) {
    if (rank == registry_.self()) {
      waiting_.push_back({rank, worker});
      request_end_turn();
    } else {
      outbox_.append_record(rank, FrameHeader::of(FrameKind::sync_for), SyncForRecord{worker});
    }
  }
}

void Synchronization::answered(std::uint64_t worker) {
  WorkerEndpoint& endpoint = registry_.worker(worker);
  SyncRequest& request = endpoint.sync_request();
  if (request.unanswered == 0)
    throw ProtocolError("a sync has been answered for a worker that does not wait");
  if (--request.unanswered > 0) return;
  request.finished.store(true, std::memory_order_release);
  endpoint.bell().ring();
}

// --- the sync of this rank

void Synchronization::begin() {
  served_.swap(waiting_);
  step_ = Step::asking;
  ++number_;
  peers_.clear();
  for (const Rank rank : peers_of(registry_)) peers_.push_back({rank, std::nullopt});
  // Sent after the changes: a rank that gets both directly from here answers both at once.
  for (const Peer& peer : peers_)
    outbox_.append_record(peer.rank, FrameHeader::of(FrameKind::sync), SyncRecord{number_});
}

void Synchronization::take_answer(Rank from, const SyncAnswerRecord& answer) {
  const auto peer = std::ranges::find(peers_, from, &Peer::rank);
  const bool is_awaited =
      step_ == Step::asking && answer.number == number_ && peer != peers_.end() && !peer->part.has_value();
  if (!is_awaited) throw ProtocolError("a rank has answered a sync that has not asked it");
  replication_.refreshes().ended(from, answer.part);
  peer->part = answer.part.number;
}

bool Synchronization::has_refreshed(const Peer& peer) const {
  return peer.part && replication_.refreshes().complete(peer.rank) > *peer.part;
}

std::optional<Rank> Synchronization::awaited() const {
  if (step_ != Step::asking) return std::nullopt;
  for (const Peer& peer : peers_)
    if (!has_refreshed(peer)) return peer.rank;
  return std::nullopt;
}

void Synchronization::advance() {
  if (step_ == Step::asking && !awaited() && replication_.begin_cut(kUser, now())) step_ = Step::merging;
  if (step_ == Step::merging && replication_.is_cut_merged()) finish();
}

void Synchronization::finish() {
  step_ = Step::none;
  if (replication_.end_cut()) repeat_end_turn();
  for (const Waiting& waiting : std::exchange(served_, {})) {
    if (waiting.rank == registry_.self()) {
      answered(waiting.worker);
    } else {
      outbox_.append_record(waiting.rank, FrameHeader::of(FrameKind::sync_for_answer),
                            SyncForRecord{waiting.worker});
    }
  }
}

// --- syncs of other ranks

void Synchronization::answer_asked() {
  std::vector<Asked> later;
  for (const Asked& asked : std::exchange(asked_, {})) {
    const bool owes = !replication_.send_owed(asked.by);
    replication_.set_awaited(asked.by, owes);
    if (owes) {
      later.push_back(asked);
      continue;
    }
    outbox_.append_record(asked.by, FrameHeader::of(FrameKind::sync_answer),
                          SyncAnswerRecord{asked.number, replication_.refreshes().end_part(asked.by)});
  }
  asked_.insert(asked_.end(), later.begin(), later.end());
}

// --- events

void Synchronization::handle_frame(Rank from, const FrameHeader& header, const std::byte* records) {
  for (std::uint32_t i = 0; i < header.count; ++i) {
    switch (static_cast<FrameKind>(header.kind)) {
      case FrameKind::sync_for:
        waiting_.push_back({from, sync_record<SyncForRecord>(header, records, i).worker});
        break;
      case FrameKind::sync_for_answer:
        answered(sync_record<SyncForRecord>(header, records, i).worker);
        break;
      case FrameKind::sync:
        asked_.push_back({from, sync_record<SyncRecord>(header, records, i).number});
        break;
      default:
        take_answer(from, sync_record<SyncAnswerRecord>(header, records, i));
        break;
    }
  }
  request_end_turn();
}

void Synchronization::end_turn() {
  bool begins = step_ == Step::none && !waiting_.empty();
  replication_.set_deltas_awaited(kUser, begins || step_ != Step::none);
  if (begins || !asked_.empty())
    replication_.send_changes(now());
  else if (step_ != Step::none)
    replication_.send_unsent_changes();
  answer_asked();
  for (;;) {
    if (begins) begin();
    advance();
    begins = step_ == Step::none && !waiting_.empty();
    if (!begins) break;
    replication_.send_changes(now());
  }
  replication_.set_deltas_awaited(kUser, step_ != Step::none);
  // The awaited events happen in other modules: a DELTA is answered, a key arrives, a lease ends.
  if (!idle(IdleLevel::answered)) request_end_turn();
}

}  // namespace lapse
