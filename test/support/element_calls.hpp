// Calls on single elements that stand for calls on values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/ps/elements.hpp"
#include "lapse/store/row_elements.hpp"

namespace lapse::test {

// The pairs of a call, with the updates of a push. Used for one call.
template <Element T>
class ElementCalls {
 public:
  // Whether all elements of a value are accessed together.
  static bool fits(std::size_t length) { return length <= ElementPairs::kMaxRun; }
  static bool pushes(const Table<T>& table) {
    return table.handle().state().definition().rule.is_elementwise();
  }

  // Adds all elements of a value. Returns false if that would continue the last run.
  bool add(Key key, std::size_t length) {
    if (!keys_.empty() && keys_.back() == key) return false;
    for (std::uint32_t i = 0; i < length; ++i) add_pair(key, i);
    return true;
  }
  // Adds the elements of an update that are not zero. Returns false if two runs share them: they are applied
  // one after the other, so another worker may see a part of the update.
  bool add(Key key, std::span<const T> update) {
    const auto others = std::find_if(keys_.rbegin(), keys_.rend(), [=](Key other) { return other != key; });
    const auto adjacent = static_cast<std::size_t>(others - keys_.rbegin());
    const std::size_t before = keys_.size();
    for (std::uint32_t i = 0; i < update.size(); ++i) {
      if (update[i] == T{0}) continue;
      add_pair(key, i);
      updates_.push_back(update[i]);
    }
    const std::size_t added = keys_.size() - before;
    return adjacent % ElementPairs::kMaxRun + added <= ElementPairs::kMaxRun;
  }
  std::size_t size() const { return indices_.size(); }

  Operation pull(Worker& worker, const Table<T>& table, std::span<T> values) {
    Operation operation = has_one_key() ? worker.pull_elements(table, keys_[0], indices_, values)
                                        : worker.pull_elements(table, keys_, indices_, values);
    spoil();
    return operation;
  }
  Operation push(Worker& worker, const Table<T>& table, float scale) {
    Operation operation = has_one_key() ? worker.push_elements(table, keys_[0], indices_, updates_, scale)
                                        : worker.push_elements(table, keys_, indices_, updates_, scale);
    spoil();
    return operation;
  }

 private:
  void add_pair(Key key, std::uint32_t index) {
    keys_.push_back(key);
    indices_.push_back(index);
  }
  bool has_one_key() const {
    return !keys_.empty() && std::ranges::all_of(keys_, [this](Key key) { return key == keys_[0]; });
  }
  // The call has consumed its arguments.
  void spoil() {
    std::ranges::fill(keys_, Key(0));
    std::ranges::fill(indices_, 0U);
    std::ranges::fill(updates_, T{77});
  }

  std::vector<Key> keys_;
  std::vector<std::uint32_t> indices_;
  std::vector<T> updates_;
};

}  // namespace lapse::test
