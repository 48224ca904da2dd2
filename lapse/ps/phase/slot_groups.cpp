#include "lapse/ps/phase/slot_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/ps/phase/counted_accesses.hpp"
#include "lapse/ps/phase/group_phase.hpp"

namespace lapse {

SlotGroups::SlotGroups(const Phase& all, bool helping, SeatRunner& runner, SlotThreads& threads,
                       SlotControl& control, GroupNumber last,
                       std::function<void(std::exception_ptr)> end_child)
    : all_(all),
      helping_(helping),
      protocol_(all.protocol),
      engine_(all.engine),
      runner_(runner),
      threads_(threads),
      control_(control),
      job_([this, end_child = std::move(end_child)](std::size_t slot) {
        try {
          run(slot);
        } catch (...) {
          end_child(std::current_exception());
        }
      }),
      last_(last) {
  for (std::size_t slot = 0; slot < all.local_workers; ++slot) {
    slots_.push_back(std::make_unique<Slot>());
    slots_[slot]->number = slot;
    slots_[slot]->handler = this;
    endpoint(slot).set_activity(WorkerActivity::detached);
  }
  begin_.handler = this;
  protocol_.groups().open_slots(last);
  protocol_.slot_messages().set_receiver(this);
}

SlotGroups::~SlotGroups() {
  protocol_.slot_messages().set_receiver(nullptr);
  protocol_.groups().clear();
}

void SlotGroups::send(Rank to, std::span<const std::byte> message) {
  protocol_.slot_messages().send(to, message);
}

void SlotGroups::handle_message(Rank from, std::span<const std::byte> message) {
  control_.handle_message(from, message);
}

void SlotGroups::submit(Submission& submission) {
  submission.handler = &control_;
  engine_.submit_from_outside(submission);
}

void SlotGroups::seat(GroupInSlots group) {
  // A slot that gets a worker now would not notice the failure.
  if (protocol_.failure().raised()) return;
  const GroupInSlots::Seats* own = nullptr;
  std::vector<Rank> participants;
  std::size_t before = 0;
  std::size_t count = 0;
  for (const GroupInSlots::Seats& seats : group.seats) {
    participants.push_back(seats.rank);
    if (seats.rank == all_.rank) {
      own = &seats;
      before = count;
    }
    count += seats.slots.size();
  }
  if (own == nullptr || own->slots.empty())
    throw ProtocolError(fmt::format("group {} has no seats on rank {}", group.number, all_.rank.value()));
  for (const std::uint32_t slot : own->slots) {
    if (slot >= slots_.size() || slots_[slot]->group != nullptr) {
      throw ProtocolError(fmt::format("group {} is to have slot {} of rank {}, which {}", group.number, slot,
                                      all_.rank.value(),
                                      slot < slots_.size() ? "is in use" : "does not exist"));
    }
  }
  std::vector<WorkerEndpoint*> endpoints;
  for (const std::uint32_t slot : own->slots) {
    endpoint(slot).take_seat({.group = group.number, .number = before + endpoints.size()});
    endpoints.push_back(&endpoint(slot));
  }
  const GroupLevels& levels = protocol_.levels().seat(group.number, endpoints, count);
  RankGroup& added = protocol_.groups().begin_in_slots(group.number, std::move(endpoints));
  Group& seated = *(groups_[group.number] = std::make_unique<Group>(protocol_, engine_, added));
  seated.work = std::move(group.work);
  seated.left = own->slots.size();
  seated.end.number = group.number;
  seated.end.counters.resize(protocol_.registry().tables().size());
  seated.phase.emplace(phase_of_group(all_, seated.workers, levels, before, own->slots.size(), count));
  seated.workers.start(own->slots.size(), std::move(participants));
  protocol_.groups().handle_kept(group.number);
  for (const std::uint32_t number : own->slots) {
    Slot& slot = *slots_[number];
    slot.group = &seated;
    slot.report = {};
    slot.counted = counted_in(protocol_.registry(), number);
    busy_.fetch_add(1, std::memory_order_relaxed);
    threads_.start(number, job_);
  }
}

void SlotGroups::run(std::size_t number) {
  Slot& slot = *slots_[number];
  const auto began = std::chrono::steady_clock::now();
  runner_.run({*slot.group->phase, endpoint(number)}, slot.group->work, slot.report);
  slot.time = std::chrono::steady_clock::now() - began;
  engine_.submit(slot);
  // The server's thread may sleep lightly, as this one has helped.
  engine_.notify();
  if (helping_) help_next(number);
}

void SlotGroups::help_next(std::size_t number) {
  const IdleSettings settings = engine_.idle_settings();
  IdlePolicy idle(settings);
  // Where processors are scarce, other threads need this one's more.
  int turns = settings.polls_per_yield == 0 ? 4 : std::numeric_limits<int>::max();
  while (turns-- > 0 && !has_ended() && !threads_.has_job(number)) {
    engine_.make_progress({});
    const IdlePolicy::Step step = idle.failed(&IdlePolicy::Clock::now);
    if (step == IdlePolicy::Step::sleep) return;
    if (step == IdlePolicy::Step::yield) std::this_thread::yield();
  }
}

void SlotGroups::handle_submission(Submission& submission) {
  if (&submission != &begin_) return handle_left(static_cast<Slot&>(submission));
  // Without threads the phase fails on every rank.
  threads_.prepare(slots_.size());
  control_.begin(*this, last_);
}

void SlotGroups::handle_left(Slot& slot) {
  Group& group = *slot.group;
  const std::vector<TableCounters> now = counted_in(protocol_.registry(), slot.number);
  for (std::size_t table = 0; table < now.size(); ++table)
    group.end.counters[table] += counted_since(slot.counted[table], now[table]);
  group.end.time = std::max(group.end.time, slot.time);
  protocol_.levels().leave(group.end.number, endpoint(slot.number));
  make_free(slot);
  if (--group.left > 0) return;
  RankGroups::leave(group.group);
  group.work = nullptr;
  if (const Failure& failure = group.workers.failure(); failure.raised())
    group.end.failure.emplace(failure.origin(), failure.text());
  if (!protocol_.failure().raised()) control_.handle_end(group.end);
}

void SlotGroups::make_free(Slot& slot) {
  slot.group = nullptr;
  endpoint(slot.number).take_seat({.group = kAllWorkers, .number = slot.number});
  endpoint(slot.number).set_activity(WorkerActivity::detached);
  if (busy_.fetch_sub(1, std::memory_order_release) == 1) engine_.notify();
}

void SlotGroups::abort(GroupNumber number, const std::string& text) {
  const auto found = groups_.find(number);
  if (found == groups_.end()) return;
  protocol_.groups().fail(found->second->group, std::make_exception_ptr(Error(text)));
}

void SlotGroups::retire(GroupNumber number) {
  const auto found = groups_.find(number);
  if (found == groups_.end() || found->second->left > 0)
    throw ProtocolError(
        fmt::format("group {} is retired on rank {}, where it has not ended", number, all_.rank.value()));
  groups_.erase(found);
  protocol_.groups().end(number);
}

void SlotGroups::end(GroupNumber last) {
  last_ = last;
  ended_.store(true, std::memory_order_release);
  engine_.notify();
}

}  // namespace lapse
