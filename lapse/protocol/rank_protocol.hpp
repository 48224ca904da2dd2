// Combines the modules of one rank's protocol.
#pragma once

#include <span>

#include "lapse/core/progress_role.hpp"
#include "lapse/directory/router.hpp"
#include "lapse/protocol/group/rank_groups.hpp"
#include "lapse/protocol/group/slot_messages.hpp"
#include "lapse/protocol/group/stop_requests.hpp"
#include "lapse/protocol/group/termination_detection.hpp"
#include "lapse/protocol/host/module_host.hpp"
#include "lapse/protocol/key/access.hpp"
#include "lapse/protocol/key/key_relocation.hpp"
#include "lapse/protocol/key/key_replication.hpp"
#include "lapse/protocol/key/lease_turns.hpp"
#include "lapse/protocol/key/localize_answers.hpp"
#include "lapse/protocol/key/operation_sender.hpp"
#include "lapse/protocol/key/owner_lookups.hpp"
#include "lapse/protocol/levels/budgets.hpp"
#include "lapse/protocol/levels/levels.hpp"
#include "lapse/protocol/modules/leases.hpp"
#include "lapse/protocol/modules/localize_requests.hpp"
#include "lapse/protocol/modules/relocation.hpp"
#include "lapse/protocol/modules/replication.hpp"
#include "lapse/protocol/modules/synchronization.hpp"
#include "lapse/protocol/stalls/stall_inquiry.hpp"
#include "lapse/protocol/worker/registry.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Constructs each module with references to the modules that it needs, in the order of need (only
// KeyReplication gets a later one). Add new modules here. Workers submit to the modules that have an
// accessor. The host passes frames, deadlines and ends of turns to the modules.
//
// Thread safety: see ModuleHost.
class RankProtocol final : public ModuleHost {
 public:
  // Transport and router must outlive the object.
  RankProtocol(Transport& transport, const Router& router, const TimeSource& time = steady_time());

  Registry& registry() { return registry_; }
  const Registry& registry() const { return registry_; }

  Access& access() { return access_; }
  Leases& leases() { return leases_; }
  Replication& replication() { return replication_; }
  const Replication& replication() const { return replication_; }
  Synchronization& synchronization() { return synchronization_; }
  Levels& levels() { return levels_; }
  const Levels& levels() const { return levels_; }
  Budgets& budgets() { return budgets_; }
  LocalizeRequests& localize_requests() { return localize_requests_; }
  RankGroups& groups() { return groups_; }
  SlotMessages& slot_messages() { return slot_messages_; }
  StallInquiry& stall_inquiry() { return stall_inquiry_; }
  StopRequests& stop_requests() { return stop_requests_; }
  const StopRequests& stop_requests() const { return stop_requests_; }
  TerminationDetection& termination() { return termination_; }

 private:
  void handle_reads(std::span<const RemoteReads::Finished> reads) noexcept LAPSE_REQUIRES(progress_role);

  Registry registry_;
  OperationSender sender_;
  LeaseTurns lease_turns_;
  KeyReplication key_replication_;
  OwnerLookups lookups_;
  Access access_;
  LocalizeAnswers localize_answers_;
  KeyRelocation key_relocation_;
  Relocation relocation_;
  Replication replication_;
  Synchronization synchronization_;
  Levels levels_;
  Budgets budgets_;
  LocalizeRequests localize_requests_;
  Leases leases_;
  RankGroups groups_;
  SlotMessages slot_messages_;
  TerminationDetection termination_;
  StallInquiry stall_inquiry_;
  StopRequests stop_requests_;
};

}  // namespace lapse
