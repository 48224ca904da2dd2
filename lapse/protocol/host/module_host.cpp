#include "lapse/protocol/host/module_host.hpp"

#include <algorithm>
#include <utility>

namespace lapse {

ModuleHost::ModuleHost(Transport& transport, std::function<void()> stop_workers, const TimeSource& time)
    : time_(time),
      outbox_(transport, frames_),
      dispatcher_(frames_),
      failures_(transport.rank(), transport.ranks(), outbox_, std::move(stop_workers)) {
  add(failures_);
}

void ModuleHost::add(ProtocolModule& module) {
  frames_.add(module);
  modules_.push_back(&module);
  module.attach(attention_, time_);
}

void ModuleHost::handle_packet(Rank from, std::span<const std::byte> packet) {
  outbox_.heard_from(from);
  dispatcher_.handle_packet(from, packet);
}

void ModuleHost::end_turn() {
  attention_.repeat = attention_.end_turn;
  while (attention_.repeat) {
    attention_.end_turn = attention_.repeat = false;
    for (ProtocolModule* module : modules_) {
      if (!module->wants_end_turn()) continue;
      try {
        module->run_end_turn();
      } catch (...) {
        handle_failure(std::current_exception());
      }
    }
  }
  outbox_.flush();
}

bool ModuleHost::end_submission() {
  if (!attention_.end_turn) return outbox_.flush_or_gather();
  end_turn();
  return false;
}

std::optional<ProtocolModule::Clock::time_point> ModuleHost::next_deadline() const {
  std::optional<ProtocolModule::Clock::time_point> next;
  if (!attention_.deadline) return next;
  for (const ProtocolModule* module : modules_) {
    const auto deadline = module->next_deadline();
    if (deadline && (!next || *deadline < *next)) next = deadline;
  }
  return next;
}

void ModuleHost::handle_deadline(ProtocolModule::Clock::time_point now) {
  for (ProtocolModule* module : modules_) {
    if (!module->next_deadline() || *module->next_deadline() > now) continue;
    try {
      module->handle_deadline(now);
    } catch (...) {
      handle_failure(std::current_exception());
    }
  }
}

QuiescenceCounts ModuleHost::counts_at_cut(IdleLevel level, CutNumber::Kind kind) const {
  QuiescenceCounts counts = frame_counts();
  counts.busy = idle(level) && !dispatcher_.is_overtaken(kind) ? 0 : 1;
  return counts;
}

void ModuleHost::cut(CutNumber::Kind kind) {
  cut_.advance(kind);
  outbox_.set_cut(cut_);
  dispatcher_.cut(kind);
}

void ModuleHost::start_cuts() {
  cut_ = {};
  outbox_.set_cut(cut_);
  dispatcher_.start_cuts();
}

bool ModuleHost::idle(IdleLevel level) const {
  return failure().raised() ||
         std::ranges::all_of(modules_, [level](const ProtocolModule* module)
                                           LAPSE_REQUIRES(progress_role) { return module->idle(level); });
}

void ModuleHost::hasten(IdleLevel level) {
  for (ProtocolModule* module : modules_) {
    if (failure().raised()) return;
    if (module->idle(level)) continue;
    try {
      module->hasten(level);
    } catch (...) {
      handle_failure(std::current_exception());
    }
  }
}

}  // namespace lapse
