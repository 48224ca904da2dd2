#include "lapse/protocol/levels/budgets.hpp"

#include <algorithm>
#include <iterator>

#include "lapse/core/error.hpp"

namespace lapse {

namespace {

constexpr const char* kWrongLength = "a message about grants has a wrong length";
// A rank that has this many changed keys asks for an epoch, to be rid of them.
constexpr std::size_t kManyKeys = 4096;

}  // namespace

Rank Budgets::home(const TableShard& table, Key key) {
  const TableDefinition& definition = table.definition();
  return definition.serving_rank(key, definition.homes.home(key));
}

Budgets::Budgets(const Registry& registry, Outbox& outbox, Levels& levels)
    : registry_(registry), outbox_(outbox), levels_(levels) {
  levels_.set_listener({.changed =
                            [this] {
                              progress_role.assert_held();  // Called by the module.
                              request_end_turn();
                            },
                        .waits =
                            [this](GroupNumber group) {
                              progress_role.assert_held();  // Likewise.
                              return waits_for(group);
                            }});
}

void Budgets::start() {
  budgets_.clear();
  reserved_.clear();
  abandoned_.clear();
  open_.clear();
  hurries_ = false;
  requests_ = 0;
}

// --- events

void Budgets::handle_submission(Submission& submission) {
  auto& request = static_cast<GrantRequest&>(submission);
  request.taken();
  if (request.begin_turn(request.worker().seat().group)) {
    ++requests_;
    reserve_all(request);
  }
  take_written(request);
  if (request.is_abandoned() && !request.is_idle() &&
      std::ranges::find(abandoned_, &request) == abandoned_.end())
    abandoned_.push_back(&request);
  request_end_turn();
}

void Budgets::handle_frame(Rank from, const FrameHeader& header, const std::byte* records) {
  const auto own_key = [this](const TableShard& table, std::uint64_t number) {
    const Key key = Registry::served_key(table, number);
    if (home(table, key) != registry_.self())
      throw ProtocolError("a message about grants of a key whose home is another rank");
    return key;
  };
  for (std::uint32_t i = 0; i < header.count; ++i) {
    switch (static_cast<FrameKind>(header.kind)) {
      case FrameKind::reserve: {
        const auto record = record_of<ReserveRecord>(header, records, i, kWrongLength);
        TableShard& table = registry_.table(header.table);
        if (!(record.magnitude > 0) || !(record.bound > 0))
          throw ProtocolError("a reservation whose magnitude or bound is not positive");
        take_reservation(table, own_key(table, record.key),
                         {from, record.number, record.magnitude, record.bound});
        break;
      }
      case FrameKind::grant:
        take_grant(record_of<GrantRecord>(header, records, i, kWrongLength));
        break;
      case FrameKind::release: {
        const auto record = record_of<ReleaseRecord>(header, records, i, kWrongLength);
        TableShard& table = registry_.table(header.table);
        if (!(record.magnitude > 0) || record.grants == 0) throw ProtocolError("a release of no change");
        take_release(table, own_key(table, record.key), from, {record.magnitude, record.grants});
        break;
      }
      default:
        record_of<HastenRecord>(header, records, i, kWrongLength);
        hurry();
        break;
    }
  }
  request_end_turn();
}

// --- reservations and grants

void Budgets::reserve_all(GrantRequest& request) {
  TableShard& table = request.table();
  for (std::uint32_t item = 0; item < request.items().size(); ++item) {
    const GrantRequest::Item& content = request.items()[item];
    const std::uint64_t number = next_number_++;
    reserved_.emplace(number, Reserved{&request, item, &table, content});
    const Rank to = home(table, content.key);
    if (to == registry_.self()) {
      take_reservation(table, content.key, {to, number, content.magnitude, request.bound()});
    } else {
      outbox_.append_record(to, FrameHeader::of(FrameKind::reserve, table.id().value()),
                            ReserveRecord{content.key.value(), number, content.magnitude, request.bound()});
    }
  }
}

void Budgets::take_reservation(TableShard& table, Key key, const KeyBudgets::Reservation& reservation) {
  if (budgets_.reserve(table.id(), key, reservation)) return grant(table, key, reservation, 0);
  // A rank that is granted a change while other reservations wait learns it by the grant.
  if (budgets_.waiting(table.id(), key) > 1) return;
  budgets_.for_each_holder(table.id(), key, [&](Rank holder) {
    progress_role.assert_held();  // Called in place.
    if (holder == registry_.self()) return hurry();
    outbox_.append_record(holder, FrameHeader::of(FrameKind::hasten, table.id().value()),
                          HastenRecord{key.value()});
  });
}

void Budgets::grant(const TableShard& table, Key key, const KeyBudgets::Reservation& reservation,
                    std::uint64_t flags) {
  if (budgets_.waiting(table.id(), key) > 0 || budgets_.outstanding(table.id(), key) > reservation.bound / 2)
    flags |= GrantRecord::kHurries;
  const GrantRecord record{reservation.number, flags};
  if (reservation.from == registry_.self()) return take_grant(record);
  outbox_.append_record(reservation.from, FrameHeader::of(FrameKind::grant), record);
}

void Budgets::take_grant(const GrantRecord& record) {
  const auto found = reserved_.find(record.number);
  if (found == reserved_.end()) throw ProtocolError("a grant without a reservation");
  const Reserved reserved = found->second;
  reserved_.erase(found);
  if (reserved.request == nullptr)
    return release(*reserved.table, reserved.content.key, {reserved.content.magnitude, 1});
  if ((record.flags & GrantRecord::kHurries) != 0) hurries_ = true;
  reserved.request->grant(reserved.item, (record.flags & GrantRecord::kHasWaited) != 0);
  reserved.request->worker().bell().ring();
}

// --- changes and releases

void Budgets::take_written(GrantRequest& request) {
  if (request.is_idle()) return;
  request.take_written([&](const GrantRequest::Item& item, Level need) {
    progress_role.assert_held();  // Called in place.
    changed(request, item, need);
  });
  if (request.is_complete()) finish(request);
}

void Budgets::finish(GrantRequest& request) {
  if (--requests_ == 0) hurries_ = false;
  request.finish();
  request.worker().bell().ring();
}

void Budgets::changed(const GrantRequest& request, const GrantRequest::Item& item, Level need) {
  TableShard& table = request.table();
  const GroupLevels* const levels = levels_.find(request.group());
  if (levels == nullptr || need <= levels->visible()) return release(table, item.key, {item.magnitude, 1});
  OpenChanges& changes = open_[request.group()];
  Open& open = changes.by_need[static_cast<std::size_t>(need) % changes.by_need.size()];
  if (open.need != need) {
    release_visible(*levels, changes);
    open.need = need;
  }
  Sum& sum = open.sums[{&table, item.key}];
  sum.magnitude += item.magnitude;
  ++sum.grants;
  if (hurries_ || open.sums.size() > kManyKeys) levels_.want(request.group(), need);
}

void Budgets::hurry() {
  hurries_ = requests_ > 0;
  for (const auto& [group, changes] : open_) want_all(group, changes);
}

void Budgets::want_all(GroupNumber group, const OpenChanges& changes) {
  for (const Open& open : changes.by_need)
    if (!open.sums.empty() && levels_.want(group, open.need)) repeat_end_turn();
}

void Budgets::release(TableShard& table, Key key, const Sum& sum) {
  const Rank to = home(table, key);
  if (to == registry_.self()) return take_release(table, key, to, sum);
  outbox_.append_record(to, FrameHeader::of(FrameKind::release, table.id().value()),
                        ReleaseRecord{key.value(), sum.magnitude, sum.grants});
}

void Budgets::take_release(TableShard& table, Key key, Rank from, const Sum& sum) {
  const auto grant_next = [&](const KeyBudgets::Reservation& next) {
    progress_role.assert_held();  // Called in place.
    grant(table, key, next, GrantRecord::kHasWaited);
  };
  budgets_.release(table.id(), key, from, sum.magnitude, sum.grants, grant_next);
}

void Budgets::release_visible(const GroupLevels& levels, OpenChanges& changes) {
  for (Open& open : changes.by_need) {
    if (open.need > levels.visible() || open.sums.empty()) continue;
    const auto sums = std::exchange(open.sums, {});
    for (const auto& [changed, sum] : sums) release(*changed.table, changed.key, sum);
  }
}

void Budgets::release_visible() {
  const std::size_t before = open_.size();
  for (auto at = open_.begin(); at != open_.end();) {
    auto& [group, changes] = *at;
    // A group with open changes does not end.
    const GroupLevels& levels = *levels_.find(group);
    release_visible(levels, changes);
    // Without workers no other would ask for the epochs.
    if (!levels.has_workers()) want_all(group, changes);
    at = changes.is_empty() ? open_.erase(at) : std::next(at);
  }
  if (open_.size() < before) review_groups();
}

void Budgets::review_groups() {
  if (!levels_.has_slots()) return;
  levels_.review();
  repeat_end_turn();
}

bool Budgets::waits_for(GroupNumber group) const {
  return open_.contains(group) || std::ranges::any_of(abandoned_, [&](const GrantRequest* request) {
           return request->group() == group;
         });
}

bool Budgets::give_up(GrantRequest& request) {
  if (request.is_idle()) return true;
  // What it has begun to change counts as changed when it is answered.
  if (request.worker().open() > 0) return false;
  take_written(request);
  if (request.is_idle()) return true;
  // A group with an abandoned request does not end.
  const GroupLevels& levels = *levels_.find(request.group());
  const Level need = levels.need(request.table().definition().members() > 1);
  request.for_each_unwritten([&](const GrantRequest::Item& item) {
    progress_role.assert_held();  // Called in place.
    changed(request, item, need);
  });
  for (auto& [number, reserved] : reserved_)
    if (reserved.request == &request) reserved.request = nullptr;
  finish(request);
  return true;
}

void Budgets::end_turn() {
  const std::size_t given_up = std::erase_if(abandoned_, [&](GrantRequest* request) {
    progress_role.assert_held();  // Called in place.
    return give_up(*request);
  });
  release_visible();
  // What was given up may need an epoch, for which others wait.
  if (given_up > 0) {
    review_groups();
    repeat_end_turn();
  }
  // An operation is answered in another module.
  if (!abandoned_.empty()) request_end_turn();
}

}  // namespace lapse
