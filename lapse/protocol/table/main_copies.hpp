// A serving rank's records of the main copies of its domain of which other domains hold replicas.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// A holder of a key: a domain that wants the key although another domain owns it.
struct Member {
  Domain domain;
  bool dirty = false;  // the main copy has changed since it was sent, or a DELTA is to be answered
  bool bit = false;    // of the domain's last DELTA
};

// The holders of one main copy. Few have more than two; up to two are stored in the record itself.
class MainCopy {
 public:
  MainCopy() = default;
  explicit MainCopy(Key key) : key_(key) {}

  Key key() const { return key_; }
  std::span<Member> members() { return more_ ? std::span(*more_) : std::span(few_).first(count_); }
  std::span<const Member> members() const { return const_cast<MainCopy*>(this)->members(); }
  std::size_t size() const { return more_ ? more_->size() : count_; }
  // Null if the domain is no holder.
  Member* find(Domain domain);
  void add(const Member& member);
  // Requires that the domain is a holder.
  void remove(Domain domain);
  void mark_all() {
    for (Member& member : members()) member.dirty = true;
  }

  // The record is in the list that the next round visits.
  bool listed = false;

 private:
  Key key_;
  std::uint32_t count_ = 0;
  std::array<Member, 2> few_;
  std::unique_ptr<std::vector<Member>> more_;
};

// Numbered records. Pure bookkeeping. Thread safety: the holder of the progress lock.
class MainCopies {
 public:
  // Throws std::bad_alloc and then has no effect.
  std::uint32_t open(Key key) LAPSE_REQUIRES(progress_role);
  void close(std::uint32_t number) LAPSE_REQUIRES(progress_role);
  // Valid until the next open.
  MainCopy& at(std::uint32_t number) LAPSE_REQUIRES(progress_role) { return records_[number]; }

  // Lists the record for the next round.
  void list(std::uint32_t number) LAPSE_REQUIRES(progress_role) {
    if (records_[number].listed) return;
    records_[number].listed = true;
    listed_.push_back(number);
  }
  // Empties the list, and calls f(number) for each record that was in it.
  template <class F>
  void take_listed(F&& f) LAPSE_REQUIRES(progress_role) {
    taken_.swap(listed_);
    for (const std::uint32_t number : taken_) {
      // The record may have been closed, and opened for another key.
      if (!records_[number].listed) continue;
      records_[number].listed = false;
      f(number);
    }
    taken_.clear();
  }
  bool any_listed() const LAPSE_REQUIRES(progress_role);
  bool is_list_empty() const LAPSE_REQUIRES(progress_role) { return listed_.empty(); }
  // Whether f(main copy) is true for a listed record.
  template <class F>
  bool any_listed(F&& f) const LAPSE_REQUIRES(progress_role) {
    for (const std::uint32_t number : listed_)
      if (records_[number].listed && f(records_[number])) return true;
    return false;
  }

  // All numbers of records are below this one.
  std::size_t records() const LAPSE_REQUIRES(progress_role) { return records_.size(); }
  std::size_t in_use() const LAPSE_REQUIRES(progress_role) { return in_use_; }
  std::size_t memory_bytes() const LAPSE_REQUIRES(progress_role) {
    return records_.capacity() * sizeof(MainCopy) + free_.capacity() * sizeof(std::uint32_t);
  }

 private:
  std::vector<MainCopy> records_ LAPSE_GUARDED_BY(progress_role);
  std::vector<std::uint32_t> free_ LAPSE_GUARDED_BY(progress_role);
  std::vector<std::uint32_t> listed_ LAPSE_GUARDED_BY(progress_role);
  std::vector<std::uint32_t> taken_ LAPSE_GUARDED_BY(progress_role);
  std::size_t in_use_ LAPSE_GUARDED_BY(progress_role) = 0;
};

}  // namespace lapse
