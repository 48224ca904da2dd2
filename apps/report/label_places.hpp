// Places of labels that do not cover each other.
#pragma once

#include <optional>
#include <vector>

namespace lapse::apps {

// With y downwards.
struct LabelBox {
  double left;
  double top;
  double right;
  double bottom;

  bool covers(const LabelBox& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  bool contains(const LabelBox& other) const {
    return left <= other.left && other.right <= right && top <= other.top && other.bottom <= bottom;
  }
};

// Gives each label, one after the other, the first free place beside its point.
class LabelPlaces {
 public:
  explicit LabelPlaces(const LabelBox& area) : area_(area) {}

  // A point's mark that labels should not cover.
  void block(double x, double y, double radius);
  // The box of a label beside the point, within the area; nullopt where labels or marks are in the way on
  // all sides.
  std::optional<LabelBox> place(double x, double y, double width, double height);

 private:
  bool is_free(const LabelBox& box, double x, double y) const;

  LabelBox area_;
  std::vector<LabelBox> labels_;
  std::vector<LabelBox> marks_;
};

}  // namespace lapse::apps
