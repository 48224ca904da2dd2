// Counting (history_counters.hpp) through a worker.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "lapse/ps/worker.hpp"
#include "test/support/history_counters.hpp"
#include "test/support/history_live_counters.hpp"
#include "test/support/random_workload_client.hpp"

namespace lapse::test {

// On an additive table of length layout.length(), zero at the start.
template <Element T>
class CounterClient final : public TableClient {
 public:
  // `live` may be null.
  CounterClient(Worker& worker, const Table<T>& table, const CounterLayout& layout, CounterLog& log,
                LiveCounters* live)
      : worker_(worker),
        table_(table),
        layout_(layout),
        unit_(layout.unit<T>(log.worker())),
        log_(log),
        live_(live) {}

  std::uint64_t keys() const override { return table_.keys(); }

  std::unique_ptr<PendingCall> call(Call call, std::span<const Key> keys) override {
    switch (call) {
      case Call::pull:
        return pull(keys);
      case Call::push:
      case Call::set:  // would undo what others count
        return push(keys);
      case Call::localize:
        return std::make_unique<PendingCall>(keys.size() == 1 ? worker_.localize(table_, keys[0])
                                                              : worker_.localize(table_, keys));
      case Call::pull_if_local:
        pull_if_local(keys[0]);
        break;
      case Call::update_if_local:
        update_if_local(keys[0]);
        break;
    }
    return nullptr;
  }

 private:
  struct Seen {
    Key key;
    std::uint64_t position;
    std::int64_t own;
    Counts floor;
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
      const std::size_t length = client_.layout_.length();
      for (std::size_t i = 0; i < seen_.size(); ++i) {
        client_.saw(seen_[i], std::span<const T>(values_).subspan(i * length, length));
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

  Seen ask(Key key) {
    return {key, log_.next_position(), log_.pushes(key), live_ == nullptr ? Counts() : live_->floor(key)};
  }
  void saw(const Seen& seen, std::span<const T> value) {
    const Counts counts = layout_.counts(value);
    if (live_ != nullptr) live_->pull_answered(log_.worker(), seen.key, seen.floor, counts);
    log_.pulled(seen.key, seen.position, seen.own, counts);
  }
  void count_push(Key key) {
    log_.pushed(key);
    if (live_ != nullptr) live_->push_issued(log_.worker(), key);
  }

  std::unique_ptr<PendingCall> pull(std::span<const Key> keys) {
    std::vector<Seen> seen;
    for (const Key key : keys) seen.push_back(ask(key));
    std::vector<T> values(keys.size() * layout_.length());
    Operation operation =
        keys.size() == 1 ? worker_.pull(table_, keys[0], values) : worker_.pull(table_, keys, values);
    return std::make_unique<PendingPull>(std::move(operation), *this, std::move(values), std::move(seen));
  }

  std::unique_ptr<PendingCall> push(std::span<const Key> keys) {
    std::vector<std::pair<Key, std::int64_t>> pushed;
    std::vector<T> updates;
    for (const Key key : keys) {
      count_push(key);
      pushed.emplace_back(key, log_.pushes(key));
      updates.insert(updates.end(), unit_.begin(), unit_.end());
    }
    Operation operation =
        keys.size() == 1 ? worker_.push(table_, keys[0], updates) : worker_.push(table_, keys, updates);
    if (live_ == nullptr) return std::make_unique<PendingCall>(std::move(operation));
    return std::make_unique<PendingPush>(std::move(operation), *this, std::move(pushed));
  }

  void pull_if_local(Key key) {
    std::vector<T> value(layout_.length());
    const Seen seen = ask(key);
    if (worker_.pull_if_local(table_, key, value)) saw(seen, value);
  }

  void update_if_local(Key key) {
    const Seen seen = ask(key);
    Counts counts;
    const bool here = worker_.update_if_local(table_, key, [&](std::span<T> value) {
      counts = layout_.counts(std::span<const T>(value));
      layout_.add_unit(log_.worker(), value);
    });
    if (!here) return;
    if (live_ != nullptr) live_->pull_answered(log_.worker(), key, seen.floor, counts);
    log_.pulled(key, seen.position, seen.own, counts);
    count_push(key);
    if (live_ != nullptr) live_->push_answered(log_.worker(), key, log_.pushes(key));
  }

  Worker& worker_;
  const Table<T> table_;
  const CounterLayout layout_;
  const std::vector<T> unit_;
  CounterLog& log_;
  LiveCounters* live_;
};

}  // namespace lapse::test
