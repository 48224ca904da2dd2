#include "adapm/sampling/prepared_keys.hpp"

#include <algorithm>
#include <array>
#include <new>

namespace adapm {

using lapse::Key;

void PreparedKeys::begin(std::size_t size) {
  size_ = size;
  taken_ = 0;
  list_.clear();
  turn_ = 0;
  postponed_.clear();
  next_postponed_ = 0;
  distinct_.clear();
}

void PreparedKeys::begin_list(std::size_t size, bool postpone) {
  begin(size);
  draws_ = false;
  postpone_ = postpone;
  if (size > list_.max_size()) throw std::bad_alloc();
  list_.reserve(size);
  if (postpone) postponed_.reserve(size);
}

void PreparedKeys::draw_list(const Distribution& distribution, lapse::RandomEngine& random,
                             bool with_replacement) {
  list_.resize(size_);
  if (with_replacement) return distribution.draw(random, list_);
  for (Key& key : list_) key = distinct_.draw(distribution, random);
  end_draws();
}

void PreparedKeys::begin_draws(std::size_t size, const lapse::RandomEngine& random, bool with_replacement) {
  begin(size);
  draws_ = true;
  with_replacement_ = with_replacement;
  random_ = random;
  local_.clear();
}

TakenKeys PreparedKeys::take(std::span<Key> keys, const Distribution& distribution, UsableKeys& usable) {
  TakenKeys result;
  if (draws_) {
    result.remote =
        local_.draw(distribution, random_, usable, with_replacement_ ? nullptr : &distinct_, keys);
  } else if (postpone_) {
    result.postponed = take_usable_first(keys, usable);
  } else {
    std::ranges::copy(std::span(list_).subspan(turn_, keys.size()), keys.begin());
    turn_ += keys.size();
  }
  taken_ += keys.size();
  return result;
}

std::size_t PreparedKeys::take_usable_first(std::span<Key> keys, UsableKeys& usable) {
  const std::size_t before = postponed_.size();
  std::array<bool, UsableKeys::kMaxAtOnce> is_usable{};
  std::size_t filled = 0;
  while (filled < keys.size() && turn_ < list_.size()) {
    const std::size_t count = std::min({is_usable.size(), keys.size() - filled, list_.size() - turn_});
    const std::span some = std::span(list_).subspan(turn_, count);
    usable.find(some, std::span(is_usable).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      if (is_usable[i]) {
        keys[filled++] = some[i];
      } else {
        postponed_.push_back(some[i]);
      }
    }
    turn_ += count;
  }
  while (filled < keys.size()) keys[filled++] = postponed_[next_postponed_++];
  return postponed_.size() - before;
}

}  // namespace adapm
