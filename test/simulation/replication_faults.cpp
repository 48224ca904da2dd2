// Faults of replication that the simulation must find. Each drops one rule (docs/model/replication.md).
#include <array>
#include <cstring>
#include <string>

#include "lapse/protocol/records/operation_records.hpp"
#include "lapse/protocol/records/relocation_records.hpp"
#include "lapse/protocol/records/replication_records.hpp"
#include "test/simulation/fault_search.hpp"
#include "test/simulation/frame_fault.hpp"

using namespace lapse;
using namespace lapse::test;

namespace {

using Unanswered = Replica::Unanswered;

constexpr ScenarioLimits kCopies{.replication = true, .eventual = true};

void expect_found(const std::string& name, const FrameFault& fault, ScenarioLimits limits = kCopies) {
  limits.fault = &fault;
  expect_violation(name, limits);
}

void expect_found_by(const std::string& name, const Router& router, ScenarioLimits limits = kCopies) {
  limits.router = &router;
  limits.bulk = false;
  expect_violation(name, limits);
}

// Calls f(record) before a record of this kind is handled. If f returns false, the record is dropped.
template <class F>
FrameFault before(FrameKind kind, F&& f) {
  FrameFault fault;
  fault.before = [kind, f](ReceivedRecord& record) {
    progress_role.assert_held();  // One thread does everything.
    return record.kind() == kind ? f(record) : true;
  };
  return fault;
}

// Changes the holders that a TRANSFER carries.
template <class F>
FrameFault change_members(F&& f) {
  return before(FrameKind::transfer_with_members, [f](ReceivedRecord& record) {
    const auto members = record.as<TransferRecord>().members;
    std::byte* at = record.bytes + record.header.record_bytes - members * sizeof(MemberRecord);
    for (std::uint32_t i = 0; i < members; ++i, at += sizeof(MemberRecord)) {
      MemberRecord member;
      std::memcpy(&member, at, sizeof member);
      f(member);
      std::memcpy(at, &member, sizeof member);
    }
    return true;
  });
}

class ReplicationRouter : public Router {
 public:
  bool routes_runs() const override { return false; }
};

class DirectWithUnanswered final : public ReplicationRouter {
 public:
  Route route_own(const KeyView& view, const Pin& pin) const override {
    return view.direct == DirectAccess::copy ? Route::execute() : Router::route_own(view, pin);
  }
};

class UpgradingForwards final : public ReplicationRouter {
 public:
  Route route_received(const KeyView& view, bool by_home) const override {
    const bool upgrading = view.direct == DirectAccess::copy && view.handling == Handling::queue;
    if (upgrading && !view.at_home()) return Route::send_to_home(view.home);
    return Router::route_received(view, by_home);
  }
};

// Fault: sends to the main copy at once, without waiting for what is queued at the replica.
class MainOnlyAtOnce final : public ReplicationRouter {
 public:
  Route route_own(const KeyView& view, const Pin& pin) const override {
    Route route = Router::route_own(view, pin);
    if (view.handling == Handling::relay && route.action == Route::Action::send) route.is_entry = true;
    return route;
  }
};

}  // namespace

TEST_CASE("simulation of replication finds a REFRESH that is dropped while its copy is awaited") {
  expect_found("awaiting drops REFRESH", before(FrameKind::refresh, [](ReceivedRecord& record) {
                 return record.role() != Role::awaiting;
               }));
}

TEST_CASE("simulation of replication finds a REFRESH that is taken as the snapshot") {
  expect_found("REFRESH is the snapshot", before(FrameKind::refresh, [](ReceivedRecord& record) {
                 if (record.role() == Role::awaiting)
                   record.header.kind = static_cast<std::uint16_t>(FrameKind::snapshot);
                 return true;
               }));
}

TEST_CASE("simulation of replication finds a SNAPSHOT that overwrites a newer REFRESH") {
  expect_found("SNAPSHOT overwrites", before(FrameKind::snapshot, [](ReceivedRecord& record) {
                 // The first REFRESH takes a slot.
                 const bool has_slot =
                     record.role() == Role::awaiting && record.replica().slot != Replica::kNone;
                 if (has_slot) SlotHead::set_version(record.slot(), 0);
                 return true;
               }));
}

TEST_CASE("simulation of replication finds an old REFRESH that is taken") {
  expect_found("old REFRESH", before(FrameKind::refresh, [](ReceivedRecord& record) {
                 if (record.role() == Role::replica) SlotHead::set_version(record.slot(), 0);
                 return true;
               }));
}

TEST_CASE("simulation of replication finds a REFRESH that acknowledges any DELTA") {
  expect_found("any REFRESH acknowledges", before(FrameKind::refresh, [](ReceivedRecord& record) {
                 if (record.role() != Role::replica) return true;
                 VersionRecord head = record.as<VersionRecord>();
                 head.version_and_bit = VersionRecord::pack(head.version(), record.replica().bit);
                 record.write(head);
                 return true;
               }));
}

TEST_CASE("simulation of replication finds delta bits that TRANSFER does not move") {
  expect_found("bits stay", change_members([](MemberRecord& member) { member.bit = 0; }));
}

TEST_CASE("simulation of replication finds a merge that does not raise the version") {
  FrameFault fault;
  std::uint64_t version = 0;
  bool merges = false;
  fault.before = [&](ReceivedRecord& record) {
    const bool carries = record.kind() == FrameKind::delta || record.kind() == FrameKind::off;
    const SlotWord word = record.table.store().word(record.key);
    merges = carries && word.role() == Role::owner && !word.leased();
    if (merges) version = SlotHead::version_of(record.table.store().address(word.slot()));
    return true;
  };
  fault.after = [&](ReceivedRecord& record) {
    const SlotWord word = record.table.store().word(record.key);
    if (merges && word.role() == Role::owner)
      SlotHead::set_version(record.table.store().address(word.slot()), version);
  };
  expect_found("merge does not raise", fault);
}

TEST_CASE("simulation of replication finds one kind of OFFER") {
  expect_found("one kind of OFFER", before(FrameKind::offer, [](ReceivedRecord& record) {
                 if (record.role() == Role::awaiting) record.header.flags = 0;
                 return true;
               }));
}

TEST_CASE("simulation of replication finds an OFF without the last delta") {
  expect_found("OFF without delta", before(FrameKind::off, [](ReceivedRecord& record) {
                 record.header.record_bytes = sizeof(DeltaRecord);
                 return true;
               }));
}

TEST_CASE("simulation of replication finds an old owner that is not in the set") {
  expect_found("old owner out", before(FrameKind::transfer_with_members, [](ReceivedRecord& record) {
                 // The holder that stays is the last of the list.
                 TransferRecord head = record.as<TransferRecord>();
                 head.members -= 1;
                 record.write(head);
                 record.header.record_bytes -= static_cast<std::uint32_t>(sizeof(MemberRecord));
                 return true;
               }));
}

TEST_CASE("simulation of replication finds a new owner that stays in the set") {
  expect_found("new owner in", change_members([](MemberRecord& member) { member.domain = 0; }));
}

TEST_CASE("simulation of replication finds a lost mark of a replica") {
  FrameFault fault;
  fault.after = [](ReceivedRecord& record) {
    progress_role.assert_held();  // One thread does everything.
    if (record.kind() == FrameKind::refresh && record.role() == Role::replica)
      record.copies().keys().take_mark({record.replica().slot, false});
  };
  expect_found("mark of a replica lost", fault);
}

TEST_CASE("simulation of replication finds a lost ACK") {
  expect_found("no ACK", before(FrameKind::acknowledge, [](ReceivedRecord&) { return false; }));
}

TEST_CASE("simulation of replication finds versions that are not required") {
  FrameFault fault;
  fault.before = [](ReceivedRecord& record) {
    const std::uint64_t none = 0;
    if (record.kind() == FrameKind::pull_answer || record.kind() == FrameKind::push_answer ||
        record.kind() == FrameKind::call_answer || record.kind() == FrameKind::pull_elements_answer) {
      std::memcpy(record.bytes + sizeof(AnswerRecord), &none, sizeof none);
    } else if (record.kind() == FrameKind::pull_run_answer || record.kind() == FrameKind::push_run_answer) {
      const std::size_t bytes = std::size_t{record.header.count} * sizeof none;
      std::memset(record.bytes + std::size_t{record.header.count} * record.header.record_bytes - bytes, 0,
                  bytes);
    }
    return true;
  };
  expect_found("no required versions", fault);
}

TEST_CASE("simulation of replication finds direct accesses with an operation unanswered") {
  expect_found_by("direct with unanswered", DirectWithUnanswered());
}

TEST_CASE("simulation of replication finds an upgrading rank that does not queue") {
  expect_found_by("upgrading forwards", UpgradingForwards());
}

TEST_CASE("simulation of replication finds operations for main copies that leave a replica at once") {
  ScenarioLimits limits = kCopies;
  limits.resets = true;
  expect_found_by("main-only at once", MainOnlyAtOnce(), limits);
}
