// Pull, push, set and call on keys in this rank's memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "lapse/core/error.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/protocol/worker/worker_endpoint.hpp"
#include "lapse/ps/access/access_request.hpp"
#include "lapse/ps/access/row_cursor.hpp"

namespace lapse {

// Processes the keys of one call in order: carries out what memory allows and returns the rest.
//
// Thread safety: the worker's thread.
class LocalAccess {
 public:
  // Counters of all accesses, and of those to replicas.
  struct Counts {
    std::uint64_t& all;
    std::uint64_t& copies;
  };

  // Carries out the first keys of a call, while each is local and simple: values of one length, no code of
  // the application. Returns their number, and counts them.
  static std::size_t run(TableShard& table, std::span<const Key> keys, const AccessRequest& request,
                         const Counts& counts);

  // Starts at key number `first`. `rank`: the worker's, for errors.
  LocalAccess(TableShard& table, std::span<const Key> keys, const AccessRequest& request,
              WorkerEndpoint& endpoint, const Counts& counts, Rank rank, std::size_t first)
      : table_(table),
        request_(request),
        reach_(table.reach(request.operation)),
        endpoint_(endpoint),
        counts_(counts),
        rank_(rank),
        cursor_(table.store().sizes(), keys, request) {
    cursor_.skip(first);
  }

  // Carries out the other keys. Calls undone(row, word) for each key that is not local, is leased, or has an
  // unanswered operation. undone must make the key unanswered, to keep the order of a key that the call names
  // twice.
  template <class Undone>
  void carry_out_rest(Undone&& undone) {
    carry_out_next(cursor_.remaining().size(), std::forward<Undone>(undone));
  }
  // Carries out keys until one cannot be; that is the next key then.
  void carry_out_leading();
  // Like carry_out_rest, for at most `keys` keys.
  template <class Undone>
  void carry_out_next(std::size_t keys, Undone&& undone);
  bool at_end() const { return cursor_.at_end(); }
  std::size_t remaining() const { return cursor_.remaining().size(); }
  // Returns the next key, or the last one at the end. If undone of carry_out_rest has thrown, the first key
  // that was tried.
  Key next_key() const { return at_end() ? cursor_.keys().back() : cursor_.remaining().front(); }
  // Keys that were tried together and could not be carried out: ascending positions in the call, and their
  // slot words.
  struct NotLocal {
    std::array<std::uint32_t, Store::kMaxAtOnce> positions;
    std::array<const Store::Word*, Store::kMaxAtOnce> words;
    std::size_t count = 0;
  };
  // Like carry_out_next, for a call of values of one length that runs no code of the application, while no
  // arrivals are expected. Tries at most Store::kMaxAtOnce keys, fewer if one of them is leased. Returns the
  // number tried.
  std::size_t carry_out_together(NotLocal& undone);
  std::span<const Key> keys() const { return cursor_.keys(); }
  // Promises that no key becomes local during this access, except by the end of a lease: the caller drives
  // the engine of the only rank that serves the domain's keys. `ordered`: operations of the worker may be
  // unanswered.
  void expect_no_arrivals(bool ordered) {
    may_overtake_ = false;
    is_ordered_ = ordered;
  }
  void expect_arrivals() { may_overtake_ = true; }
  // Sets whether to wait for a key whose latch another thread holds. If not, carry_out_next stops at that
  // key, which is the next one then, and meets_latch() is true.
  void wait_for_latches(bool waits) { waits_ = waits; }
  bool meets_latch() const { return meets_latch_; }
  bool expects_arrivals() const { return may_overtake_; }
  // The first failure of the application's code, if any. Its key counts as done.
  std::optional<UserCodeFailed>& failure() { return failure_; }

 private:
  // Finds the slot words of the next keys.
  void find_words(std::span<const Key> keys);
  // Returns true if the value may be usable. Ignores the order of operations.
  static bool may_use(const Store::Word& word) {
    return has_usable_value(SlotWord(word.load(std::memory_order_relaxed)).role());
  }
  // Moves the usable keys of carry_out_together that must wait for an earlier call to `undone`. Returns how
  // many are left, which come first.
  std::size_t keep_order(std::span<std::uint32_t> usable, NotLocal& undone);
  bool carry_out(const Row& row, Store::Word* word);
  // Accesses one key by its slot word (or null). Returns false if the key is not local. Throws
  // UserCodeFailed.
  bool try_key(const Row& row, Store::Word* word);
  bool is_done(const Found& found) {
    counts_.copies += found.is_copy() ? 1 : 0;
    return static_cast<bool>(found);
  }
  bool is_done(Store::Attempt attempt) {
    meets_latch_ = attempt == Store::Attempt::latched;
    counts_.copies += attempt == Store::Attempt::done_on_copy ? 1 : 0;
    return attempt == Store::Attempt::done || attempt == Store::Attempt::done_on_copy;
  }

  TableShard& table_;
  const AccessRequest& request_;
  const Store::Reach reach_;
  WorkerEndpoint& endpoint_;
  const Counts counts_;
  const Rank rank_;
  RowCursor cursor_;
  std::optional<UserCodeFailed> failure_;
  // the slot words of the next keys
  std::array<Store::Word*, Store::kMaxAtOnce> words_;
  std::size_t word_ = Store::kMaxAtOnce;
  // a local key may have an unanswered operation
  bool may_overtake_ = true;
  bool is_ordered_ = false;  // a key that is local now may have an unanswered operation of an earlier call
  bool waits_ = true;
  bool meets_latch_ = false;
};

template <class Undone>
void LocalAccess::carry_out_next(std::size_t keys, Undone&& undone) {
  // A local copy, to keep it in registers.
  RowCursor cursor = cursor_;
  meets_latch_ = false;
  for (; keys > 0 && !cursor.at_end(); --keys) {
    if (word_ == words_.size()) find_words(cursor.remaining());
    const Row row = cursor.next();
    Store::Word* const word = words_[word_++];
    if (word != nullptr && !may_use(*word)) {
      undone(row, word);
    } else if (!carry_out(row, word)) {
      if (meets_latch_) {
        cursor.step_back(row);
        --word_;
        break;
      }
      // The key may be local a moment later, when the call names it again.
      may_overtake_ = true;
      undone(row, word);
    }
  }
  cursor_ = cursor;
}

}  // namespace lapse
