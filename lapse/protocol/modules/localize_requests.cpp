#include "lapse/protocol/modules/localize_requests.hpp"

#include <cstddef>

namespace lapse {

namespace {
// After this many keys, the ranks asked for them can begin while the next keys are requested.
constexpr std::uint32_t kKeysPerSend = 1024;
constexpr std::size_t kSentEarly = 4000;  // bytes of a message that is worth sending then
}  // namespace

// Passes the keys of a request that this rank serves to Relocation, as many at once as it takes.
class LocalizeRequests::Batch {
 public:
  Batch(LocalizeRequests& requests, TableShard& table, Waiter waiter) LAPSE_REQUIRES(progress_role)
      : relocation_(requests.relocation_),
        outbox_(requests.outbox_),
        table_(table),
        waiter_(waiter),
        now_(requests.now()),
        keys_(requests.keys_) {}

  void add(Key key) LAPSE_REQUIRES(progress_role) {
    if (count_ == keys_.size()) {
      localize();
      if (++parts_ % kPartsAtOnce == 0) outbox_.send_early(kSentEarly);
    }
    keys_[count_++] = key;
  }
  void add_here() { ++here_; }
  // Returns how many keys of the request are local.
  std::uint32_t finish() LAPSE_REQUIRES(progress_role) {
    localize();
    return here_;
  }

 private:
  static constexpr std::uint32_t kPartsAtOnce = kKeysPerSend / Relocation::kKeysAtOnce;

  void localize() LAPSE_REQUIRES(progress_role) {
    here_ += relocation_.localize(table_, std::span(keys_.data(), count_), waiter_, now_);
    count_ = 0;
  }

  Relocation& relocation_;
  Outbox& outbox_;
  TableShard& table_;
  Waiter waiter_;
  Clock::time_point now_;
  std::vector<Key>& keys_;  // Relocation::kKeysAtOnce
  std::size_t count_ = 0;
  std::uint32_t parts_ = 0;
  std::uint32_t here_ = 0;
};

void LocalizeRequests::handle_submission(Submission& submission) {
  auto& operation = static_cast<OperationState&>(submission);
  TableShard& table = *operation.table;
  const Waiter waiter(operation);
  table.counters().localized_keys += operation.items.size();
  Batch batch(*this, table, waiter);
  if (table.definition().members() == 1) {
    for (const OperationState::Item& item : operation.items) batch.add(item.key);
  } else {
    localize_in_domain(operation, batch);
  }
  if (const std::uint32_t here = batch.finish(); here > 0) answers_.notify(waiter, here);
}

void LocalizeRequests::localize_in_domain(const OperationState& operation, Batch& batch) {
  const TableShard& table = *operation.table;
  FrameHeader header = FrameHeader::of(FrameKind::localize_for, table.id().value(), operation.number);
  header.origin = registry_.self().value();
  const std::uint32_t others = static_cast<std::uint32_t>(table.definition().members()) - 1;
  std::uint32_t unsent = 0;
  for (const OperationState::Item& item : operation.items) {
    const Rank serving = table.serving_rank(item.key);
    if (serving == registry_.self()) {
      batch.add(item.key);
    } else if (has_main_copy(table.store().word(item.key).role())) {
      batch.add_here();
    } else {
      outbox_.append_record(serving, header, LocalizeRecord{item.key.value()});
      if (++unsent < others * kKeysPerSend) continue;
      outbox_.send_early(kSentEarly);
      unsent = 0;
    }
  }
}

void LocalizeRequests::handle_frame(Rank, const FrameHeader& header, const std::byte* records) {
  TableShard& table = registry_.table(header.table);
  const Waiter waiter(registry_.rank(header.origin), header.operation);
  Batch batch(*this, table, waiter);
  for (std::uint32_t i = 0; i < header.count; ++i) {
    const auto record =
        record_of<LocalizeRecord>(header, records, i, "a request to localize has a wrong length");
    batch.add(Registry::served_key(table, record.key));
  }
  if (const std::uint32_t here = batch.finish(); here > 0) answers_.notify(waiter, here);
}

}  // namespace lapse
