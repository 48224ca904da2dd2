// Grants for changes of keys, of which the changes by all workers together are bounded.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/levels/key_budgets.hpp"
#include "lapse/protocol/levels/levels.hpp"
#include "lapse/protocol/worker/grant_request.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// reserve: a worker of the sender is going to change the key. `number`: of the sender's reservations.
struct ReserveRecord {
  std::uint64_t key = 0;
  std::uint64_t number = 0;
  double magnitude = 0;
  double bound = 0;
};
static_assert(sizeof(ReserveRecord) == 32);
// grant: it may.
struct GrantRecord {
  static constexpr std::uint64_t kHasWaited = 1;  // for changes of other workers
  static constexpr std::uint64_t kHurries = 2;    // others wait for the release, or soon will
  std::uint64_t number = 0;
  std::uint64_t flags = 0;
};
static_assert(sizeof(GrantRecord) == 16);
// release: all copies show `grants` changes that were granted, of this magnitude in all.
struct ReleaseRecord {
  std::uint64_t key = 0;
  double magnitude = 0;
  std::uint64_t grants = 0;
};
static_assert(sizeof(ReleaseRecord) == 24);
// hasten: a reservation waits for the release of the receiver's changes.
struct HastenRecord {
  std::uint64_t key = 0;
};
static_assert(sizeof(HastenRecord) == 8);

// Strong bounds of values (see docs/consistency.md). A worker asks the *home* of a key, which never moves,
// before it changes the key. The home grants changes while those that some copy may lack do not exceed the
// bound (KeyBudgets), in order of arrival. When the epoch is visible in which all copies show a change, the
// rank of its worker releases it. So, whatever its workers do, a rank releases what they have changed. It
// asks for that epoch only when a reservation waits for the release, or half of a bound is used: the home
// says so, with the grant or later.
//
// Thread safety: the holder of the progress lock.
class Budgets final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {
      {FrameKind::reserve}, {FrameKind::grant}, {FrameKind::release}, {FrameKind::hasten}};

  Budgets(const Registry& registry, Outbox& outbox, Levels& levels);

  // Called before a phase, on every rank: at its begin all copies show all changes.
  void start() LAPSE_REQUIRES(progress_role);

  std::span<const FrameSpec> frames() const override { return kFrames; }
  // Takes a GrantRequest.
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  void end_turn() override LAPSE_REQUIRES(progress_role);
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) {
    return reserved_.empty() && budgets_.waiting() == 0 && abandoned_.empty();
  }

 private:
  // A reservation of this rank that is not granted.
  struct Reserved {
    GrantRequest* request;  // null: its worker has given it up
    std::uint32_t item;
    TableShard* table;
    GrantRequest::Item content;
  };
  // Changes of a key that are not visible in all copies.
  struct Changed {
    TableShard* table;
    Key key;
    bool operator==(const Changed&) const = default;
  };
  struct ChangedHash {
    std::size_t operator()(const Changed& changed) const {
      return std::hash<std::uint64_t>()(changed.key.value()) ^ std::hash<const void*>()(changed.table);
    }
  };
  struct Sum {
    double magnitude = 0;
    std::uint64_t grants = 0;
  };
  struct Open {
    Level need = 0;
    std::unordered_map<Changed, Sum, ChangedHash> sums;
  };
  // Of one group.
  struct OpenChanges {
    std::array<Open, GroupLevels::kOpenNeeds> by_need;
    bool is_empty() const {
      return std::ranges::all_of(by_need, [](const Open& open) { return open.sums.empty(); });
    }
  };

  void reserve_all(GrantRequest& request) LAPSE_REQUIRES(progress_role);
  void take_reservation(TableShard& table, Key key, const KeyBudgets::Reservation& reservation)
      LAPSE_REQUIRES(progress_role);
  void grant(const TableShard& table, Key key, const KeyBudgets::Reservation& reservation,
             std::uint64_t flags) LAPSE_REQUIRES(progress_role);
  void take_grant(const GrantRecord& record) LAPSE_REQUIRES(progress_role);
  void take_written(GrantRequest& request) LAPSE_REQUIRES(progress_role);
  void finish(GrantRequest& request) LAPSE_REQUIRES(progress_role);
  void changed(const GrantRequest& request, const GrantRequest::Item& item, Level need)
      LAPSE_REQUIRES(progress_role);
  void release(TableShard& table, Key key, const Sum& sum) LAPSE_REQUIRES(progress_role);
  void take_release(TableShard& table, Key key, Rank from, const Sum& sum) LAPSE_REQUIRES(progress_role);
  void hurry() LAPSE_REQUIRES(progress_role);
  void want_all(GroupNumber group, const OpenChanges& changes) LAPSE_REQUIRES(progress_role);
  void release_visible(const GroupLevels& levels, OpenChanges& changes) LAPSE_REQUIRES(progress_role);
  void release_visible() LAPSE_REQUIRES(progress_role);
  // A group may end that has waited for this module.
  void review_groups() LAPSE_REQUIRES(progress_role);
  // Whether changes by the group are not visible in all copies yet.
  bool waits_for(GroupNumber group) const LAPSE_REQUIRES(progress_role);
  // Returns false while its worker's operations are unanswered.
  bool give_up(GrantRequest& request) LAPSE_REQUIRES(progress_role);
  static Rank home(const TableShard& table, Key key);

  const Registry& registry_;
  Outbox& outbox_;
  Levels& levels_;
  KeyBudgets budgets_ LAPSE_GUARDED_BY(progress_role);
  // Other ranks wait for what requests of this rank have changed, or are going to.
  bool hurries_ LAPSE_GUARDED_BY(progress_role) = false;
  std::size_t requests_ LAPSE_GUARDED_BY(progress_role) = 0;  // that are not idle
  std::uint64_t next_number_ LAPSE_GUARDED_BY(progress_role) = 0;
  std::unordered_map<std::uint64_t, Reserved> reserved_ LAPSE_GUARDED_BY(progress_role);
  std::vector<GrantRequest*> abandoned_ LAPSE_GUARDED_BY(progress_role);
  std::map<GroupNumber, OpenChanges> open_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
