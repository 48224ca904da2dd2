// Steps of gradient descent with L2 regularization that cost only what their sparse part costs.
#pragma once

namespace lapse::apps {

// A step is w <- (1 - h l) w - h m - h d, with the step size h, the weight l of the regularization, a dense
// vector m that stays, and a sparse vector d. In place of w, a program stores y with
//
//   w = scale() y - shift() m
//
// and adds only -h d / scale() to y, after advance(). So coordinates where d is 0 cost nothing, and as
// updates add, they commute: several workers may push them in any order. Fold, that is y <- w and restart(),
// when must_fold(): scale() shrinks with every step.
class LazyScale {
 public:
  explicit LazyScale(double regularization) : regularization_(regularization) {}

  double scale() const { return scale_; }
  double shift() const { return shift_; }

  // Makes one step. Requires step_size * regularization < 1.
  void advance(double step_size) {
    const double decay = 1 - step_size * regularization_;
    scale_ *= decay;
    shift_ = decay * shift_ + step_size;
  }
  // What to add to y, for each unit of a change of w in the last step.
  double change(double change_of_w) const { return change_of_w / scale_; }

  bool must_fold() const { return scale_ < kLeast; }
  void restart() {
    scale_ = 1;
    shift_ = 0;
  }

 private:
  // Of a double's 16 digits, this leaves 13.
  static constexpr double kLeast = 1e-3;

  double regularization_;
  double scale_ = 1;
  double shift_ = 0;
};

}  // namespace lapse::apps
