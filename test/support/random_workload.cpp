#include "test/support/random_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "lapse/ps/access/granted_push.hpp"
#include "lapse/ps/function.hpp"

namespace lapse::test {

bool may_push(Worker& worker, const TableHandle& table, std::span<const Key> keys, double magnitude) {
  return worker.core().may_push(table, keys, magnitude);
}

std::unique_ptr<CallSteps> begin_granted_push(Worker& worker, const TableHandle& table,
                                              std::span<const Key> keys, const std::byte* updates,
                                              float scale) {
  class Steps final : public CallSteps {
   public:
    explicit Steps(std::unique_ptr<GrantedPush> push) : push_(std::move(push)) {}
    bool is_done() const override { return push_->is_done(); }
    bool may_advance() const override { return push_->may_advance(); }
    void advance() override { push_->advance(); }

   private:
    std::unique_ptr<GrantedPush> push_;
  };
  const auto& bound = table.state().definition().value_bound;
  if (!bound || !bound->strong) return nullptr;
  const AccessRequest request{.operation = {.kind = OperationKind::push, .scale = scale}, .updates = updates};
  return std::make_unique<Steps>(worker.core().begin_push(table, keys, request));
}

std::string_view to_string(Call call) {
  constexpr std::array<std::string_view, kCalls> kNames{
      "pull", "push",  "set",    "localize", "pull_if_local", "update_if_local",
      "call", "lease", "intent", "sync",     "pull_elements", "push_elements"};
  return kNames[static_cast<std::size_t>(call)];
}

WorkloadSettings WorkloadSettings::random(RandomEngine& random, std::size_t calls) {
  const auto one_of = [&](auto... values) {
    const std::array choices{values...};
    return choices[random.below(choices.size())];
  };
  WorkloadSettings settings;
  settings.calls = calls;
  settings.max_pending = one_of(1, 3, 8, 20);
  settings.max_keys = one_of(1, 2, 5);
  settings.synchronous = one_of(0.0, 0.2, 0.6, 1.0);
  settings.wait_for_all = one_of(0.0, 0.05, 0.2);
  settings.detached = one_of(0.0, 0.0, 0.1);
  settings.weights = {one_of(1U, 3U, 6U),
                      one_of(1U, 3U, 6U),
                      1,
                      one_of(1U, 4U, 12U),
                      one_of(0U, 1U, 2U),
                      one_of(0U, 1U, 3U),
                      one_of(0U, 2U),
                      one_of(0U, 1U, 4U),
                      0,
                      0,
                      one_of(0U, 1U, 3U),
                      one_of(0U, 1U, 3U)};
  settings.max_touches = one_of(0, 1, 5);
  return settings;
}

RandomWorkload::RandomWorkload(std::vector<TableClient*> clients, const WorkloadSettings& settings,
                               RandomEngine random, std::unique_ptr<LeasePlay> leases,
                               std::unique_ptr<IntentPlay> intents, std::unique_ptr<SyncPlay> syncs,
                               std::unique_ptr<ClockPlay> clock)
    : clients_(std::move(clients)),
      settings_(settings),
      random_(random),
      leases_(std::move(leases)),
      intents_(std::move(intents)),
      syncs_(std::move(syncs)),
      clock_(std::move(clock)) {}

bool RandomWorkload::may_step() const {
  if (finished()) return false;
  if (leases_ && leases_->active()) return leases_->may_step();
  if (syncs()) return syncs_->may_step();
  if (waiting_ != nullptr) return waiting_->steps()->may_advance();
  const bool last = calls_ == settings_.calls;
  const std::size_t count = last ? pending_.size() : wait_for_;
  const auto done = [](const auto& call) { return call->done(); };
  // After the last call every answer counts as progress.
  if (last) return pending_.empty() || std::ranges::any_of(pending_, done);
  if (clock_ && !clock_->may_call()) return false;
  const std::size_t first = wait_for_newest_ ? pending_.size() - count : 0;
  return std::all_of(pending_.begin() + static_cast<std::ptrdiff_t>(first),
                     pending_.begin() + static_cast<std::ptrdiff_t>(first + count), done);
}

void RandomWorkload::step() {
  if (clock_ && clock_->begin()) {
    last_ = {};
    return;
  }
  take_step();
  if (clock_ && finished()) clock_->end();
}

void RandomWorkload::take_step() {
  if (leases_ && leases_->active()) {
    last_ = {};
    last_.of_lease = leases_->step(random_);
    return;
  }
  if (syncs()) {
    last_ = {};
    last_.of_lease = syncs_->step();
    return;
  }
  if (waiting_ != nullptr) {
    last_ = {};
    last_.of_lease = "changes what is granted";
    waiting_->steps()->advance();
    if (!waiting_->steps()->is_done()) return;
    waiting_->finish();
    waiting_.reset();
    return;
  }
  const bool last = calls_ == settings_.calls;
  if (last && pending_.empty() && has_intents()) {
    last_ = {};
    last_.of_intents = true;
    intents_->end_all(random_);
    return;
  }
  if (last) {
    const bool none_done = std::ranges::none_of(pending_, [](const auto& call) { return call->done(); });
    wait_for_ = none_done ? pending_.size() : 0;
    wait_for_newest_ = false;
  }
  const std::size_t first = wait_for_newest_ ? pending_.size() - wait_for_ : 0;
  for (std::size_t i = 0; i < wait_for_; ++i) {
    pending_[first]->finish();
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(first));
  }
  wait_for_ = 0;
  wait_for_newest_ = false;
  finish_answered();
  last_ = {};
  if (clock_ && !last) {
    last_.of_clock = clock_->advances();
    if (last_.of_clock)
      clock_->advance();
    else
      make_call();
    clock_->draw(random_);
  } else if (!last) {
    make_call();
  }
}

void RandomWorkload::run() {
  while (!finished()) step();
}

void RandomWorkload::finish_answered() {
  for (auto& call : pending_) {
    if (!call->done()) continue;
    call->finish();
    call.reset();
  }
  std::erase(pending_, nullptr);
}

void RandomWorkload::make_call() {
  const std::uint32_t total = std::accumulate(settings_.weights.begin(), settings_.weights.end(), 0U);
  std::uint64_t drawn = random_.below(total);
  std::size_t call = 0;
  while (drawn >= settings_.weights[call]) drawn -= settings_.weights[call++];

  last_.called = true;
  last_.call = static_cast<Call>(call);
  if (intents_) intents_->end_due(calls_);
  if (last_.call == Call::lease) {
    ++calls_;
    begin_lease();
    return;
  }
  if (last_.call == Call::sync) {
    ++calls_;
    if (syncs_) syncs_->begin();
    return;
  }
  last_.client = random_.below(clients_.size());
  TableClient& client = *clients_[last_.client];
  draw_keys(client.keys());

  ++calls_;
  if (last_.call == Call::intent) return begin_intent();
  std::unique_ptr<PendingCall> pending = client.call(last_.call, last_.keys);
  if (pending == nullptr) return;
  if (CallSteps* const steps = pending->steps()) {
    if (!steps->is_done()) {
      waiting_ = std::move(pending);
      return;
    }
  }
  if (pending->done()) {
    pending->finish();
    return;
  }
  if (random_.uniform() < settings_.detached) {
    last_.detached = true;
    return;
  }
  pending_.push_back(std::move(pending));
  if (random_.uniform() < settings_.synchronous) {
    wait_for_ = 1;
    wait_for_newest_ = true;
  } else if (random_.uniform() < settings_.wait_for_all) {
    wait_for_ = pending_.size();
  } else if (pending_.size() >= settings_.max_pending) {
    wait_for_ = 1;
  }
}

void RandomWorkload::draw_keys(std::uint64_t keys) {
  constexpr std::uint64_t kFewKeys = 4;
  if (settings_.bulk > 0) {
    if (random_.uniform() < settings_.bulk) return draw_bulk_keys(keys);
    if (random_.below(2) == 0) keys = std::min(keys, kFewKeys);
  }
  const std::size_t count = random_.uniform() < 0.5 ? 1 : 1 + random_.below(settings_.max_keys);
  for (std::size_t i = 0; i < count; ++i) last_.keys.emplace_back(random_.below(keys));
}

void RandomWorkload::draw_bulk_keys(std::uint64_t keys) {
  const std::uint64_t count = 10 + random_.below(91);
  if (random_.below(4) == 0) {
    for (std::uint64_t i = 0; i < count; ++i) last_.keys.emplace_back(random_.below(keys));
    return;
  }
  // Keys in a stride, each once; then a few of them again.
  const std::uint64_t first = random_.below(keys);
  const std::uint64_t stride = 1 + 2 * random_.below(2);
  for (std::uint64_t i = 0; i < std::min(count, keys); ++i)
    last_.keys.emplace_back((first + i * stride) % keys);
  if (random_.below(2) == 0) return;
  for (std::uint64_t i = 1 + random_.below(3); i > 0; --i) {
    const Key again = last_.keys[random_.below(last_.keys.size())];
    last_.keys[random_.below(last_.keys.size())] = again;
  }
}

void RandomWorkload::begin_lease() {
  if (!leases_) return;
  std::vector<LeasePlay::Part> parts;
  for (TableClient* client : clients_) {
    // A client may be listed several times, to be called more often.
    const bool again = std::ranges::any_of(parts, [&](const auto& part) { return part.client == client; });
    if (again || random_.below(3) == 0) continue;
    LeasePlay::Part part{client, {}};
    const std::size_t keys = random_.below(settings_.max_keys + 1);
    for (std::size_t i = 0; i < keys; ++i) part.keys.emplace_back(random_.below(client->keys()));
    parts.push_back(std::move(part));
  }
  leases_->begin(std::move(parts), random_.below(settings_.max_touches + 1));
}

void RandomWorkload::begin_intent() {
  if (!intents_) return;
  const bool to_the_end = settings_.long_intents && random_.below(8) == 0;
  const bool is_long = settings_.long_intents && random_.below(2) == 0;
  const std::size_t until = to_the_end ? settings_.calls + 1 : calls_ + 1 + random_.below(is_long ? 40 : 6);
  intents_->begin(*clients_[last_.client], last_.keys, until);
}

std::string RandomWorkload::last_step() const {
  if (!last_.of_lease.empty()) return last_.of_lease;
  if (last_.of_intents) return "ends its intents";
  if (last_.of_clock) return "advances its clock";
  if (!last_.called) return "takes answers";
  if (last_.call == Call::lease) return "asks for a lease";
  if (last_.call == Call::sync) return "will wait for copies";
  std::string keys;
  for (const Key key : last_.keys) keys += fmt::format(" {}", key.value());
  return fmt::format("{} on table {}, keys{}{}", to_string(last_.call), last_.client, keys,
                     last_.detached  ? ", and gives up the handle"
                     : wait_for_ > 0 ? ", and waits"
                                     : "");
}

}  // namespace lapse::test
