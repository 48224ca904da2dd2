#include "test/simulation/refusals.hpp"

#include <algorithm>

namespace lapse::test {

Initialiser Refusals::initialiser() {
  // The simulation outlives its tables.
  return Initialiser::function<double>([this](Key, std::span<double> value) {
    if (active_ && random_.below(100) < initialiser_chance_) throw std::runtime_error("no value now");
    std::ranges::fill(value, 0);
  });
}

class ScarceRegionAllocator::ScarceRegion final : public Region {
 public:
  ScarceRegion(ScarceRegionAllocator& owner, std::unique_ptr<Region> real)
      : owner_(owner), real_(std::move(real)) {}
  std::byte* base() const override { return real_->base(); }
  std::size_t capacity_bytes() const override { return real_->capacity_bytes(); }
  bool commit(std::size_t offset, std::size_t bytes) override {
    if (owner_.refusals_ && owner_.refusals_->refuses_memory()) return false;
    return real_->commit(offset, bytes);
  }

 private:
  ScarceRegionAllocator& owner_;
  std::unique_ptr<Region> real_;
};

std::unique_ptr<Region> ScarceRegionAllocator::reserve(std::size_t bytes) {
  return std::make_unique<ScarceRegion>(*this, real_.reserve(bytes));
}

std::size_t RefusalLog::called(Key key, bool pulls, bool pushes) {
  std::vector<Event>& events = events_[key.index()];
  events.push_back({.pulls = pulls, .pushes = pushes, .position = next_position_++});
  return events.size() - 1;
}

void RefusalLog::succeeded(Key key, std::size_t number, Counts counts) {
  Event& event = events_[key.index()][number];
  event.succeeded = true;
  event.counts = std::move(counts);
}

void RefusalLog::replay(CounterLog& log) const {
  for (std::size_t key = 0; key < events_.size(); ++key) {
    for (const Event& event : events_[key]) {
      if (!event.succeeded) continue;
      if (event.pulls) log.pulled(Key(key), event.position, log.own(Key(key)), event.counts);
      if (event.pushes) log.pushed(Key(key));
    }
  }
}

}  // namespace lapse::test
