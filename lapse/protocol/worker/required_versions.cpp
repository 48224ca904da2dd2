#include "lapse/protocol/worker/required_versions.hpp"

#include <algorithm>

namespace lapse {

void RequiredVersions::raise(TableId table, Key key, Version version) {
  const Id id{table, key};
  const MutexLock guard(mutex_);
  if (entries_.size() == entries_.capacity()) entries_.reserve(2 * entries_.size() + 1);
  const auto [position, is_new] = positions_.try_emplace(id, entries_.size());
  if (is_new) {
    entries_.push_back({id, version, ++raised_});
    filter_.store(filter_.load(std::memory_order_relaxed) | filter_bit(id), std::memory_order_relaxed);
    if (entries_.size() == 1) count_.require_some();
    return;
  }
  Entry& entry = entries_[position->second];
  entry.version = std::max(entry.version, version);
  entry.raised = ++raised_;
}

std::optional<Version> RequiredVersions::find_entry(Id id) const {
  const MutexLock guard(mutex_);
  const auto found = positions_.find(id);
  if (found == positions_.end()) return std::nullopt;
  return entries_[found->second].version;
}

bool RequiredVersions::are_met_by(const TableShard& table, Key key, const Store::Word* word) {
  const std::optional<Version> version = find(table.id(), key);
  if (!version) return true;
  if (word == nullptr) {
    found_absent(table.id(), key);
    return true;
  }
  const SlotWord now(word->load(std::memory_order_acquire));
  if (now.role() == Role::absent || now.role() == Role::owner) found_absent(table.id(), key);
  if (!now.is_copy()) return true;
  const Version version_here(table.store().copy_version(*word));
  found(table.id(), key, version_here);
  return version_here >= *version;
}

void RequiredVersions::found(TableId table, Key key, Version version) {
  const MutexLock guard(mutex_);
  const auto entry = positions_.find({table, key});
  if (entry != positions_.end() && entries_[entry->second].version <= version) remove(entry->second);
}

void RequiredVersions::clear() {
  const MutexLock guard(mutex_);
  if (!entries_.empty()) end();
}

std::optional<RequiredVersions::Entry> RequiredVersions::next() {
  const MutexLock guard(mutex_);
  if (entries_.empty()) return std::nullopt;
  if (swept_ >= entries_.size()) swept_ = 0;
  return entries_[swept_++];
}

void RequiredVersions::remove_unchanged(const Entry& entry) {
  const MutexLock guard(mutex_);
  const auto position = positions_.find(entry.id);
  if (position == positions_.end() || entries_[position->second].raised != entry.raised) return;
  // The last entry takes its place, and is to be swept next.
  if (swept_ == position->second + 1) swept_ = position->second;
  remove(position->second);
}

void RequiredVersions::remove(std::size_t at) {
  if (entries_.size() == 1) {
    end();
    return;
  }
  positions_.erase(entries_[at].id);
  if (at + 1 != entries_.size()) {
    entries_[at] = entries_.back();
    positions_.find(entries_[at].id)->second = at;
  }
  entries_.pop_back();
}

void RequiredVersions::end() {
  entries_ = {};
  positions_ = {};
  filter_.store(0, std::memory_order_relaxed);
  count_.require_none();
}

}  // namespace lapse
