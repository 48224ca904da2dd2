// Makes counts (history_counters.hpp) through a worker.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/worker.hpp"
#include "test/support/count_function.hpp"
#include "test/support/element_calls.hpp"
#include "test/support/granted_call.hpp"
#include "test/support/history_counters.hpp"
#include "test/support/history_live_counters.hpp"
#include "test/support/random_workload_client.hpp"
#include "test/support/table_shape.hpp"

namespace lapse::test {

// The table is additive and has the given shape. Its shortest values have layout.length() elements, zero at
// the start.
template <Element T>
class CounterClient final : public TableClient {
 public:
  // `live` may be null.
  CounterClient(Worker& worker, const Table<T>& table, const CountFunction<T>& function,
                const TableShape& shape, const CounterLayout& layout, CounterLog& log, LiveCounters* live)
      : worker_(worker),
        table_(table),
        function_(function),
        shape_(shape),
        layout_(layout),
        log_(log),
        live_(live) {}

  std::uint64_t keys() const override { return shape_.keys; }

  std::unique_ptr<PendingCall> call(Call call, std::span<const Key> keys) override {
    switch (call) {
      case Call::pull:
        return pull(keys);
      case Call::push:
        return push(keys);
      case Call::set:
        return set(keys);
      case Call::localize:
        return std::make_unique<PendingCall>(keys.size() == 1 ? worker_.localize(table_, name(keys[0]))
                                                              : worker_.localize(table_, names(keys)));
      case Call::pull_if_local:
        pull_if_local(keys[0]);
        break;
      case Call::update_if_local:
        update_if_local(keys[0]);
        break;
      case Call::call:
        return call_function(keys);
      case Call::pull_elements:
        return pull_elements(keys);
      case Call::push_elements:
        return push(keys, ElementCalls<T>::pushes(table_));
      case Call::lease:
      case Call::intent:
      case Call::sync:
        break;
    }
    return nullptr;
  }

  TableId table() const override { return table_.id(); }
  Key name(Key key) const override { return shape_.name(key); }

  LeaseKeys lease_keys(std::span<const Key> keys) override {
    leased_.assign(keys.begin(), keys.end());
    leased_names_ = names(keys);
    return {table_, leased_names_};
  }

  void touch(const Lease& lease, std::size_t position) override {
    const Key key = leased_[position];
    const LeasedValues<T> values = lease.values(table_);
    if (live_ != nullptr) live_->lease_touched(key);
    const Seen seen = ask(key, Copy::main);
    saw(seen, values[position]);
    count_push(key);
    values.apply(position, layout(key).template unit<T>(log_.worker()));
    push_answered(key, log_.pushes(key), Copy::main);
  }
  void lease_over() override {
    if (live_ == nullptr) return;
    for (const Key key : leased_)
      live_->lease_over(key, table_.handle().state().serving_rank(name(key)) == worker_.rank());
  }

 private:
  struct Seen {
    Key key;
    std::uint64_t position;
    CounterLog::Own own;
    Copy copy;
    LiveCounters::Floor floor;
  };

  class PendingPull final : public PendingCall {
   public:
    PendingPull(Operation operation, CounterClient& client, std::vector<T> values, std::vector<Seen> seen)
        : PendingCall(std::move(operation)),
          client_(client),
          values_(std::move(values)),
          seen_(std::move(seen)) {}
    ~PendingPull() override { detach(); }

   private:
    void answered() override {
      std::span<const T> rest(values_);
      for (const Seen& seen : seen_) {
        const std::size_t length = client_.layout(seen.key).length();
        client_.saw(seen, rest.first(length));
        rest = rest.subspan(length);
      }
    }
    CounterClient& client_;
    std::vector<T> values_;
    std::vector<Seen> seen_;
  };

  class PendingPush final : public PendingCall {
   public:
    PendingPush(Operation operation, CounterClient& client, std::vector<std::pair<Key, std::int64_t>> pushed)
        : PendingCall(std::move(operation)), client_(client), pushed_(std::move(pushed)) {}

   private:
    void answered() override {
      for (const auto& [key, number] : pushed_)
        client_.live_->push_answered(client_.log_.worker(), key, number);
    }
    CounterClient& client_;
    std::vector<std::pair<Key, std::int64_t>> pushed_;
  };

  class PendingReset final : public PendingCall {
   public:
    PendingReset(Operation operation, CounterClient& client, std::vector<std::pair<Key, std::int64_t>> resets)
        : PendingCall(std::move(operation)), client_(client), resets_(std::move(resets)) {}

   private:
    void answered() override {
      for (const auto& [key, number] : resets_) client_.live_->reset_answered(key, number);
    }
    CounterClient& client_;
    std::vector<std::pair<Key, std::int64_t>> resets_;
  };

  // The results of a call are pulls. Each is followed by a push.
  class PendingFunction final : public PendingCall {
   public:
    PendingFunction(Operation operation, CounterClient& client, std::vector<CountResult> results,
                    std::vector<Seen> seen, std::vector<std::int64_t> numbers)
        : PendingCall(std::move(operation)),
          client_(client),
          results_(std::move(results)),
          seen_(std::move(seen)),
          numbers_(std::move(numbers)) {}
    ~PendingFunction() override { detach(); }

   private:
    void answered() override {
      for (std::size_t i = 0; i < seen_.size(); ++i) {
        const auto before = std::span(results_[i].before).first(client_.layout_.workers);
        client_.saw_counts(seen_[i], Counts(before.begin(), before.end()));
        client_.push_answered(seen_[i].key, numbers_[i], Copy::main);
      }
    }
    CounterClient& client_;
    std::vector<CountResult> results_;
    std::vector<Seen> seen_;
    std::vector<std::int64_t> numbers_;
  };

  std::vector<Key> names(std::span<const Key> keys) const {
    std::vector<Key> result;
    for (const Key key : keys) result.push_back(name(key));
    return result;
  }
  CounterLayout layout(Key key) const { return {layout_.workers, layout_.width * shape_.width(name(key))}; }

  // Called before a pull that certainly reads the given copy.
  Seen ask(Key key, Copy copy = Copy::any) {
    return {key, log_.next_position(), log_.own(key), copy,
            live_ == nullptr ? LiveCounters::Floor() : live_->floor(log_.worker(), key, copy)};
  }
  void saw(const Seen& seen, std::span<const T> value) { saw_counts(seen, layout(seen.key).counts(value)); }
  void saw_counts(const Seen& seen, const Counts& counts) {
    if (live_ != nullptr) live_->pull_answered(log_.worker(), seen.key, seen.floor, counts, seen.copy);
    log_.pulled(seen.key, seen.position, seen.own, counts, seen.copy);
  }
  void count_push(Key key) {
    log_.pushed(key);
    if (live_ != nullptr) live_->push_issued(log_.worker(), key);
  }

  void push_answered(Key key, std::int64_t number, Copy copy = Copy::any) {
    if (live_ != nullptr) live_->push_answered(log_.worker(), key, number, copy);
  }

  std::unique_ptr<PendingCall> pull(std::span<const Key> keys) {
    std::vector<Seen> seen;
    std::size_t elements = 0;
    for (const Key key : keys) {
      seen.push_back(ask(key));
      elements += layout(key).length();
    }
    std::vector<T> values(elements);
    Operation operation = keys.size() == 1 ? worker_.pull(table_, name(keys[0]), values)
                                           : worker_.pull(table_, names(keys), values);
    return std::make_unique<PendingPull>(std::move(operation), *this, std::move(values), std::move(seen));
  }

  // Pulls all elements of the keys by pairs.
  std::unique_ptr<PendingCall> pull_elements(std::span<const Key> keys) {
    std::vector<Seen> seen;
    ElementCalls<T> pairs;
    for (const Key key : keys) {
      if (!ElementCalls<T>::fits(layout(key).length())) return pull(keys);
      if (pairs.add(name(key), layout(key).length())) seen.push_back(ask(key));
    }
    std::vector<T> values(pairs.size());
    Operation operation = pairs.pull(worker_, table_, values);
    return std::make_unique<PendingPull>(std::move(operation), *this, std::move(values), std::move(seen));
  }

  // Scales are powers of two, so that all sums are exact. Integers have no scale.
  float next_scale() {
    if constexpr (!std::floating_point<T>) return 1;
    constexpr std::array<float, 4> kScales{1, 0.5F, 1, 4};
    return kScales[pushes_++ % kScales.size()];
  }

  // `elements`: only those of this worker, by pairs, if no update is applied in parts.
  std::unique_ptr<PendingCall> push(std::span<const Key> keys, bool elements = false) {
    std::vector<std::pair<Key, std::int64_t>> pushed;
    std::vector<T> updates;
    ElementCalls<T> pairs;
    // A push that would wait is not made.
    if (!may_push(worker_, table_.handle(), names(keys), 1)) return nullptr;
    const float scale = next_scale();
    for (const Key key : keys) {
      count_push(key);
      pushed.emplace_back(key, log_.pushes(key));
      std::vector<T> unit = layout(key).template unit<T>(log_.worker());
      for (T& element : unit) element /= static_cast<T>(scale);
      updates.insert(updates.end(), unit.begin(), unit.end());
      elements = pairs.add(name(key), unit) && elements;
    }
    const auto& bound = table_.handle().state().definition().value_bound;
    if (bound && bound->strong && live_ != nullptr) {
      return std::make_unique<GrantedCall<T>>(worker_, table_.handle(), names(keys), std::move(updates),
                                              scale, [this, pushed = std::move(pushed)] {
                                                for (const auto& [key, number] : pushed)
                                                  push_answered(key, number);
                                              });
    }
    Operation operation = elements           ? pairs.push(worker_, table_, scale)
                          : keys.size() == 1 ? worker_.push(table_, name(keys[0]), updates, scale)
                                             : worker_.push(table_, names(keys), updates, scale);
    // The call has consumed the updates.
    std::ranges::fill(updates, T{77});
    if (live_ == nullptr) return std::make_unique<PendingCall>(std::move(operation));
    return std::make_unique<PendingPush>(std::move(operation), *this, std::move(pushed));
  }

  // Resets the keys whose setter is this worker. Setting other keys would undo other workers' counts, so
  // these are pushed.
  std::unique_ptr<PendingCall> set(std::span<const Key> keys) {
    std::vector<std::pair<Key, std::int64_t>> resets;
    std::vector<Key> own;
    std::vector<T> values;
    for (const Key key : keys) {
      if (!log_.resets(key)) continue;
      own.push_back(name(key));
      resets.emplace_back(key, log_.reset(key));
      if (live_ != nullptr) live_->reset_issued(key, resets.back().second);
      const std::vector<T> zeroes(layout(key).length() - layout(key).width, T{0});
      values.insert(values.end(), zeroes.begin(), zeroes.end());
      values.insert(values.end(), layout(key).width, static_cast<T>(resets.back().second));
    }
    if (own.empty()) return push(keys);
    Operation operation =
        own.size() == 1 ? worker_.set(table_, own[0], values) : worker_.set(table_, own, values);
    std::ranges::fill(values, T{77});
    if (live_ == nullptr) return std::make_unique<PendingCall>(std::move(operation));
    return std::make_unique<PendingReset>(std::move(operation), *this, std::move(resets));
  }

  std::unique_ptr<PendingCall> call_function(std::span<const Key> keys) {
    std::vector<Seen> seen;
    std::vector<std::int64_t> numbers;
    for (const Key key : keys) {
      seen.push_back(ask(key, Copy::main));
      count_push(key);
      numbers.push_back(log_.pushes(key));
    }
    std::vector<CountArgument> arguments(keys.size(), {layout_.workers, log_.worker()});
    std::vector<CountResult> results(keys.size());
    Operation operation = worker_.call(table_, function_, names(keys), arguments, results);
    std::ranges::fill(arguments, CountArgument{layout_.workers, (log_.worker() + 1) % layout_.workers});
    return std::make_unique<PendingFunction>(std::move(operation), *this, std::move(results), std::move(seen),
                                             std::move(numbers));
  }

  void pull_if_local(Key key) {
    std::vector<T> value(layout(key).length());
    const Seen seen = ask(key);
    if (worker_.pull_if_local(table_, name(key), value)) saw(seen, value);
  }

  void update_if_local(Key key) {
    const Seen seen = ask(key);
    Counts counts;
    const bool here = worker_.update_if_local(table_, name(key), [&](std::span<T> value) {
      counts = layout(key).counts(std::span<const T>(value));
      layout(key).add_unit(log_.worker(), value);
    });
    if (!here) return;
    saw_counts(seen, counts);
    count_push(key);
    push_answered(key, log_.pushes(key));
  }

  Worker& worker_;
  const Table<T> table_;
  const CountFunction<T> function_;
  const TableShape shape_;
  const CounterLayout layout_;
  CounterLog& log_;
  LiveCounters* live_;
  std::size_t pushes_ = 0;
  std::vector<Key> leased_;
  std::vector<Key> leased_names_;
};

}  // namespace lapse::test
