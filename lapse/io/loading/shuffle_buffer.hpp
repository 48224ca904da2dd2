// Shuffling of a stream that is longer than memory.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "lapse/core/random.hpp"

namespace lapse::io {

// Holds some elements of a stream, and gives a random one of them whenever it takes the next: an element
// comes at most `elements` - 1 places too early, and later by `elements` places on average. The order depends
// on the stream and on the random engine alone. Elements are swapped, never copied, so that they keep the
// memory of their arrays. A stream that is shorter than the buffer takes the memory of its elements only.
// Used by one thread.
template <class T>
class ShuffleBuffer {
 public:
  // Holds so many elements; with 0 or 1 the order of the stream stays.
  explicit ShuffleBuffer(std::size_t elements, const RandomEngine& random = RandomEngine(0))
      : capacity_(elements), random_(random) {}

  // Forgets what it holds: another stream follows.
  void restart(const RandomEngine& random) {
    filled_ = 0;
    ended_ = false;
    random_ = random;
  }

  // Puts the next element into `element`, whatever it holds. `read`, bool(T&), does the same with the next
  // element of the stream, or returns false at its end, and is not called again then. False when all
  // elements have been given. Passes on what `read` throws; the buffer is to be restarted then.
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
