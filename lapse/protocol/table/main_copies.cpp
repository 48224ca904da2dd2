#include "lapse/protocol/table/main_copies.hpp"

#include <algorithm>

namespace lapse {

Member* MainCopy::find(Domain domain) {
  const std::span all = members();
  const auto found = std::ranges::find(all, domain, &Member::domain);
  return found == all.end() ? nullptr : &*found;
}

void MainCopy::add(const Member& member) {
  if (more_) {
    more_->push_back(member);
  } else if (count_ < few_.size()) {
    few_[count_++] = member;
  } else {
    more_ = std::make_unique<std::vector<Member>>(few_.begin(), few_.end());
    more_->push_back(member);
  }
}

void MainCopy::remove(Domain domain) {
  const std::span all = members();
  std::copy(std::ranges::find(all, domain, &Member::domain) + 1, all.end(),
            std::ranges::find(all, domain, &Member::domain));
  if (more_) {
    more_->pop_back();
  } else {
    --count_;
  }
}

std::uint32_t MainCopies::open(Key key) {
  const bool is_new = free_.empty();
  if (is_new) records_.emplace_back(key);
  ++in_use_;
  if (is_new) return static_cast<std::uint32_t>(records_.size() - 1);
  const std::uint32_t number = free_.back();
  free_.pop_back();
  records_[number] = MainCopy(key);
  return number;
}

void MainCopies::close(std::uint32_t number) {
  records_[number] = MainCopy();
  free_.push_back(number);
  --in_use_;
}

bool MainCopies::any_listed() const {
  return std::ranges::any_of(listed_, [this](std::uint32_t number)
                                          LAPSE_REQUIRES(progress_role) { return records_[number].listed; });
}

}  // namespace lapse
