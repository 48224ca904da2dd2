// The L2 norm of a row, and scaling of a row down to a norm.
#pragma once

#include <span>
#include <type_traits>

namespace lapse {

// The norm of a row of finite numbers. Overflowing or vanishing squares do no harm: the norm is stored as a
// product, as it may exceed every number of the type. The same bits with every instruction set.
//
// Immutable: used by any thread.
template <class T>
requires std::is_floating_point_v<T>
class RowNorm {
 public:
  explicit RowNorm(std::span<const T> row);

  // The norm; infinite if it exceeds every double.
  double value() const { return largest_ * ratio_; }
  // to = row * norm / value(), element by element. Requires norm < value(). `to` is as long as `row` and may
  // be the row itself.
  void scale_to(double norm, std::span<const T> row, T* to) const;

 private:
  double largest_;  // the largest absolute value of an element; 1 if squares fit into the type
  double ratio_;    // the norm of row / largest_
};

extern template class RowNorm<float>;
extern template class RowNorm<double>;

}  // namespace lapse
