// Shuffles a stream that is longer than memory.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "lapse/core/random.hpp"

namespace lapse::io {

// Holds some elements of a stream and returns a random one whenever it takes the next: an element comes at
// most `elements` - 1 places too early, and is delayed by `elements` places on average. The order depends
// only on the stream and the random engine. Elements are swapped, never copied, so they keep the memory of
// their arrays. A stream shorter than the buffer takes only the memory of its elements. Used by one thread.
template <class T>
class ShuffleBuffer {
 public:
  // Holds `elements` elements; with 0 or 1 the stream's order is kept.
  explicit ShuffleBuffer(std::size_t elements, const RandomEngine& random = RandomEngine(0))
      : capacity_(elements), random_(random) {}

  // Drops all elements; another stream follows.
  void restart(const RandomEngine& random) {
    filled_ = 0;
    ended_ = false;
    random_ = random;
  }

  // Overwrites `element` with the next element; returns false when all have been returned. `read`, bool(T&),
  // does the same with the stream's next element; it is not called again after it returned false. Exceptions
  // of `read` propagate; then call restart.
  template <class Read>
  bool next(T& element, Read&& read) {
    if (capacity_ <= 1) return read(element);
    while (!ended_ && filled_ < capacity_) {
      if (filled_ == elements_.size()) elements_.emplace_back();
      ended_ = !read(elements_[filled_]);
      if (!ended_) ++filled_;
    }
    if (filled_ == 0) return false;
    std::swap(elements_[random_.below(filled_)], elements_[filled_ - 1]);
    --filled_;
    std::swap(element, elements_[filled_]);
    return true;
  }

 private:
  std::size_t capacity_;
  RandomEngine random_;
  std::vector<T> elements_;  // the first filled_ are held
  std::size_t filled_ = 0;
  bool ended_ = false;
};

}  // namespace lapse::io
