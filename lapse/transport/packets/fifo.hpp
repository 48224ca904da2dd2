// A first-in-first-out queue that allocates only while it grows, so that a waiting packet costs no
// allocation.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace lapse {

// Thread safety: none. T is movable and default-constructible; a popped slot keeps a moved-from T.
template <class T>
class Fifo {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  void push(T item) {
    if (size_ == items_.size()) grow();
    items_[slot(size_)] = std::move(item);
    ++size_;
  }

  // Element `index`, counted from the oldest. Requires index < size().
  T& operator[](std::size_t index) { return items_[slot(index)]; }
  const T& operator[](std::size_t index) const { return items_[slot(index)]; }
  T& front() { return items_[first_]; }

  T pop() {
    T item = std::move(items_[first_]);
    first_ = slot(1);
    --size_;
    return item;
  }

 private:
  // The number of slots is zero or a power of two.
  std::size_t slot(std::size_t index) const { return (first_ + index) & (items_.size() - 1); }

  void grow() {
    std::vector<T> larger(items_.empty() ? 8 : items_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move(items_[slot(i)]);
    items_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> items_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace lapse
