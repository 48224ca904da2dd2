#include "test/support/lease_play.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lapse/core/error.hpp"

namespace lapse::test {

LeasePlay::~LeasePlay() {
  if (waiting_ == Waiting::steps && lease_ && lease_->held()) taker_->begin_release(*lease_);
}

std::vector<LeaseKeys> LeasePlay::lease_keys() const {
  std::vector<LeaseKeys> keys;
  for (const Part& part : parts_) keys.push_back(part.client->lease_keys(part.keys));
  return keys;
}

void LeasePlay::begin(std::vector<Part> parts, std::size_t touches) {
  parts_ = std::move(parts);
  touches_ = touches;
  stage_ = Stage::taking;
  taker_.emplace(worker_);
  if (waiting_ != Waiting::blocks) taker_->begin(lease_keys());
}

bool LeasePlay::may_step() const {
  switch (stage_) {
    case Stage::taking:
      return taker_->may_advance();
    case Stage::held:
      return wrong_ == nullptr || wrong_->done();
    case Stage::releasing:
      return taker_->released();
    case Stage::none:
      break;
  }
  return false;
}

std::string LeasePlay::step(RandomEngine& random) {
  switch (stage_) {
    case Stage::taking:
      if (take()) return "has a lease";
      return stage_ == Stage::none ? "is refused a lease" : "goes on taking a lease";
    case Stage::held:
      if (wrong_) wrong_->finish();
      return touches_-- > 0 ? touch(random) : release();
    case Stage::releasing:
      end();
      return "has given its lease back";
    case Stage::none:
      break;
  }
  return "";
}

bool LeasePlay::expects_refusal(const Error& error) const {
  return std::ranges::any_of(parts_, [&](const Part& part) { return part.client->expects_refusal(error); });
}

bool LeasePlay::take() {
  try {
    if (waiting_ == Waiting::blocks) {
      lease_.emplace(worker_.lease(std::span<const LeaseKeys>(lease_keys())));
    } else if (taker_->advance()) {
      lease_.emplace(taker_->take());
    } else {
      return false;
    }
    stage_ = Stage::held;
    return true;
  } catch (const UserCodeFailed& error) {
    if (!expects_refusal(error)) throw;
  } catch (const OutOfMemory& error) {
    if (!expects_refusal(error)) throw;
  }
  stage_ = Stage::none;
  return false;
}

std::string LeasePlay::touch(RandomEngine& random) {
  wrong_.reset();
  if (parts_.empty()) return "holds nothing";
  const Part& part = parts_[random.below(parts_.size())];
  if (part.keys.empty()) return "holds no key";
  const std::size_t position = random.below(part.keys.size());
  part.client->touch(*lease_, position);
  const Key other(random.below(part.client->keys()));
  if (wrong_call_) {
    wrong_ = wrong_call_(other);
    return fmt::format("touches a leased key and wrongly waits for key {}", other.value());
  }
  return fmt::format("touches leased key {}", part.keys[position].value());
}

void LeasePlay::end() {
  for (const Part& part : parts_) part.client->lease_over();
  stage_ = Stage::none;
}

std::string LeasePlay::release() {
  if (waiting_ == Waiting::blocks) {
    lease_->release();
    end();
    return "has given its lease back";
  }
  taker_->begin_release(*lease_);
  stage_ = Stage::releasing;
  return "gives its lease back";
}

}  // namespace lapse::test
