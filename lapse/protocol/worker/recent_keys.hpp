// The keys that recent operations of a worker name.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lapse {

// A hash table with one slot for each key. A slot stores the number of the last operation that names the key.
// It is dead once that operation is older than the oldest unanswered one: answers change no slot, and nothing
// is removed. A key's slot is in its cache line, where it replaces a dead one. If all slots of the line are
// live, the line is marked, and the slot is in a list of further slots; the table grows when that becomes
// long.
//
// Numbers of operations wrap. So that a dead slot does not seem to be live 2^31 operations later, all dead
// slots are renumbered now and then; in a table that is not used meanwhile, it may, which costs time alone.
class RecentKeys {
 public:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t operation = 0;
    // The user's; -1 in a new slot. With a value of at most kStays, the slot is live until the user changes
    // the value.
    std::int32_t value = -1;
  };
  static constexpr std::int32_t kStays = -2;
  struct alignas(64) Line {
    std::array<Slot, 4> slots;
  };

  static bool is_live(const Slot& slot, std::uint32_t oldest) {
    // Not `||`: which slots are live is unpredictable.
    return (int{static_cast<std::int32_t>(slot.operation - oldest) >= 0} | int{slot.value <= kStays}) != 0;
  }

  // The line of a key, until the next reserve. Requires that reserve was called.
  Line& line(std::uint64_t key) { return lines_[key * kMultiplier >> shift_]; }
  // The key's slot; null if it has none that is live. `oldest`: the oldest unanswered operation.
  Slot* find(std::uint64_t key, std::uint32_t oldest) {
    if (lines_.empty()) return nullptr;
    Line& own = line(key);
    Slot* slot = find_in(own.slots, key);
    if (slot != nullptr && is_live(*slot, oldest)) return slot;
    if (!is_marked(own)) return nullptr;
    slot = find_in(further_, key);
    return slot != nullptr && is_live(*slot, oldest) ? slot : nullptr;
  }
  // Returns the key's slot, or makes one, which is not live until the caller sets its operation and value.
  // Requires that reserve has provided space. The slot stays where it is until the next reserve.
  Slot& take(Line& line, std::uint64_t key, std::uint32_t oldest) {
    unsigned same = 0;
    unsigned dead = 0;
    for (unsigned i = 0; i < line.slots.size(); ++i) {
      same |= unsigned{line.slots[i].key == key} << i;
      dead |= unsigned{!is_live(line.slots[i], oldest)} << i;
    }
    const unsigned usable = same != 0 ? same : dead;
    if (usable == 0 || is_marked(line)) [[unlikely]]
      return take_further(line, key, oldest);
    Slot& slot = line.slots[static_cast<unsigned>(std::countr_zero(usable))];
    slot.operation = same != 0 ? slot.operation : oldest - 1;
    slot.value = same != 0 ? slot.value : -1;
    slot.key = key;
    return slot;
  }
  Slot& take(std::uint64_t key, std::uint32_t oldest) { return take(line(key), key, oldest); }
  // Provides space for `keys` more keys. Throws std::bad_alloc and then has no effect.
  void reserve(std::size_t keys, std::uint32_t oldest) {
    if (keys > lines_.size() || !further_.empty() || further_.capacity() < keys ||
        oldest - renumbered_ > kBetweenRenumbering) [[unlikely]]
      make_space(keys, oldest);
    taken_ += keys;
  }
  // Called now and then while no slot is live: shrinks the table if little of it was used since the last
  // call.
  void relax() {
    if (lines_.size() > kMinLines && taken_ < lines_.size() / 8) {
      lines_ = std::vector<Line>();
      marked_ = std::vector<std::uint8_t>();
      further_ = std::vector<Slot>();
    }
    taken_ = 0;
  }
  std::size_t slots() const { return lines_.size() * Line().slots.size() + further_.size(); }

 private:
  static constexpr std::uint64_t kMultiplier = 0x9e37'79b9'7f4a'7c15;  // 2^64 / golden ratio
  static constexpr std::size_t kMinLines = 64;
  static constexpr std::size_t kMaxFurther = 8;
  static constexpr std::uint32_t kBetweenRenumbering = std::uint32_t{1} << 30;

  template <class Slots>
  static Slot* find_in(Slots& slots, std::uint64_t key) {
    const auto found = std::ranges::find(slots, key, &Slot::key);
    return found == slots.end() ? nullptr : &*found;
  }
  void renumber(std::uint32_t oldest) {
    renumbered_ = oldest;
    for (Line& line : lines_) {
      for (Slot& slot : line.slots)
        if (!is_live(slot, oldest)) slot.operation = oldest - 1;
    }
  }
  std::uint8_t& is_marked(const Line& line) {
    return marked_[static_cast<std::size_t>(&line - lines_.data())];
  }
  Slot& take_further(Line& line, std::uint64_t key, std::uint32_t oldest) {
    Slot* const here = find_in(line.slots, key);
    Slot* const further = find_in(further_, key);
    // The line may hold an older slot, or one that was never used, of the key.
    if (further != nullptr && (here == nullptr || !is_live(*here, oldest))) return *further;
    if (here != nullptr) return *here;
    const auto dead =
        std::ranges::find_if(line.slots, [oldest](const Slot& slot) { return !is_live(slot, oldest); });
    if (dead == line.slots.end()) is_marked(line) = 1;
    Slot& slot = dead != line.slots.end() ? *dead : further_.emplace_back();
    slot = {key, oldest - 1, -1};
    return slot;
  }
  void make_space(std::size_t keys, std::uint32_t oldest) {
    std::erase_if(further_, [oldest](const Slot& slot) { return !is_live(slot, oldest); });
    // Of many keys, few may be in the list, which is searched from end to end.
    constexpr std::size_t kMany = std::size_t{1} << 16;
    std::size_t lines = std::bit_ceil(std::max({kMinLines, keys > kMany ? 2 * keys : keys, lines_.size()}));
    if (further_.size() > kMaxFurther) lines *= 2;
    further_.reserve(further_.size() + keys);
    if (oldest - renumbered_ > kBetweenRenumbering) renumber(oldest);
    if (lines == lines_.size()) {
      std::ranges::fill(marked_, std::uint8_t{0});
      for (const Slot& slot : further_) is_marked(line(slot.key)) = 1;
      return;
    }
    RecentKeys larger;
    Line dead;
    dead.slots.fill({.key = 0, .operation = oldest - 1, .value = -1});
    larger.lines_.assign(lines, dead);
    larger.renumbered_ = oldest;
    larger.marked_.resize(lines);
    larger.shift_ = 64 - std::countr_zero(lines);
    larger.further_.reserve(further_.capacity());
    const auto move = [&](const Slot& slot) {
      if (is_live(slot, oldest)) larger.take(slot.key, oldest) = slot;
    };
    for (const Line& line : lines_) std::ranges::for_each(line.slots, move);
    std::ranges::for_each(further_, move);
    larger.taken_ = taken_;
    *this = std::move(larger);
  }

  std::vector<Line> lines_;
  std::vector<std::uint8_t> marked_;  // by line: further_ may hold slots of its keys
  int shift_ = 0;
  std::vector<Slot> further_;
  std::uint32_t renumbered_ = 0;  // the oldest operation when dead slots were renumbered
  std::size_t taken_ = 0;         // keys for which space was reserved since the last relax
};

}  // namespace lapse
