// Adagrad: learning rates that fall with the squares of the gradients seen so far.
#pragma once

#include <algorithm>
#include <string>

#include "lapse/store/update_rules/rule_definition.hpp"

namespace lapse {

// For each element, with the gradient g:
//
//     g      = g + l2 * value
//     G     += g * g
//     value -= learning_rate * g / (sqrt(G) + epsilon)
//
// Duchi, Hazan & Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization", JMLR
// 12 (2011), figure 1 with diagonal matrices; epsilon is outside the root. State: G, one number per element.
struct Adagrad {
  double learning_rate = 0.01;
  double l2 = 0;
  double initial_accumulator = 0;  // G before the first push
  double epsilon = 1e-10;          // keeps the quotient finite while G is 0

  static constexpr UpdateRuleKind kKind = UpdateRuleKind::adagrad;
  static constexpr const char* kName = "adagrad";
  static constexpr Merge kMerge = Merge::additive_slot;
  static constexpr StateSize kState{.per_element = 1};

  std::string to_string() const;
  void check(ElementType type) const;
  template <class T>
  void initialise(T* value, std::size_t elements) const {
    std::fill_n(value + elements, elements, static_cast<T>(initial_accumulator));
  }
};

// Adagrad with one accumulator for the whole value, a row of an embedding table:
//
//     g      = g + l2 * value
//     G     += mean over the elements of g * g
//     value -= learning_rate * g / (sqrt(G) + epsilon)
//
// Gupta, Bengio & Weston, "Training Highly Multiclass Classifiers", JMLR 15 (2014), section 4.2 (one rate per
// class); for embeddings: Mudigere et al., "Software-Hardware Co-design for Fast and Scalable Training of
// Deep Learning Recommendation Models", ISCA 2022. State: G, one number.
struct RowwiseAdagrad {
  double learning_rate = 0.01;
  double l2 = 0;
  double initial_accumulator = 0;
  double epsilon = 1e-10;

  static constexpr UpdateRuleKind kKind = UpdateRuleKind::rowwise_adagrad;
  static constexpr const char* kName = "rowwise_adagrad";
  static constexpr Merge kMerge = Merge::additive_slot;
  static constexpr StateSize kState{.per_value = 1};

  std::string to_string() const;
  void check(ElementType type) const;
  template <class T>
  void initialise(T* value, std::size_t elements) const {
    value[elements] = static_cast<T>(initial_accumulator);
  }
};

}  // namespace lapse
