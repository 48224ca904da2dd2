#include "test/support/random_intents.hpp"

#include <algorithm>
#include <utility>

namespace lapse::test {

void RandomIntents::append(TableId table, std::span<const Key> keys, bool on) {
  const std::lock_guard lock(mutex_);
  for (const Key key : keys) {
    toggles_.push_back({table, key, on});
    wanted_[{table.value(), key.value()}] += on ? 1 : -1;
  }
}

bool RandomIntents::pending() const {
  const std::lock_guard lock(mutex_);
  return !toggles_.empty();
}

bool RandomIntents::wanted(TableId table, Key key) const {
  const std::lock_guard lock(mutex_);
  const auto place = wanted_.find({table.value(), key.value()});
  return place != wanted_.end() && place->second > 0;
}

void RandomIntents::begin_round(WantSink& sink) {
  std::deque<Toggle> toggles;
  {
    const std::lock_guard lock(mutex_);
    toggles.swap(toggles_);
  }
  while (!toggles.empty()) {
    const Toggle first = toggles.front();
    std::vector<Key> keys;
    while (!toggles.empty() && toggles.front().table == first.table && toggles.front().on == first.on &&
           std::ranges::find(keys, toggles.front().key) == keys.end()) {
      keys.push_back(toggles.front().key);
      toggles.pop_front();
    }
    if (first.on) {
      sink.want(first.table, keys);
    } else {
      sink.unwant(first.table, keys);
    }
  }
}

void IntentPlay::begin(const TableClient& client, std::span<const Key> keys, std::size_t until_call) {
  Active active{client.table(), {}, until_call};
  for (const Key key : keys) active.names.push_back(client.name(key));
  intents_.want(active.table, active.names);
  active_.push_back(std::move(active));
}

void IntentPlay::end_due(std::size_t calls) {
  std::erase_if(active_, [&](const Active& active) {
    if (active.until_call > calls) return false;
    intents_.unwant(active.table, active.names);
    return true;
  });
}

void IntentPlay::end_all(RandomEngine& random) {
  for (const Active& active : std::exchange(active_, {})) {
    if (leaves_some_ && random.below(2) == 0) continue;
    intents_.unwant(active.table, active.names);
  }
}

}  // namespace lapse::test
