// The parameters of the library's update rules for gradients.
#pragma once

namespace lapse {

// Stochastic gradient descent:
//
//     value -= learning_rate * (g + l2 * value)
//
// for the gradient g (Robbins & Monro 1951, with L2 regularisation). No state.
struct Sgd {
  double learning_rate = 0.01;
  double l2 = 0;  // strength of the L2 regularisation
};

// Adagrad, learning rates that fall with the squares of the gradients seen so far. For each element, with
// gradient g:
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
};

// Adagrad with one accumulator for the whole value, a row of an embedding table:
//
//     g      = g + l2 * value
//     G     += mean over the elements of g * g
//     value -= learning_rate * g / (sqrt(G) + epsilon)
//
// Gupta, Bengio & Weston, "Training Highly Multiclass Classifiers", JMLR 15 (2014), section 4.2; for
// embeddings: Mudigere et al., "Software-Hardware Co-design ...", ISCA 2022. State: G, one number.
struct RowwiseAdagrad {
  double learning_rate = 0.01;
  double l2 = 0;
  double initial_accumulator = 0;
  double epsilon = 1e-10;
};

// Adam, steps from running means of the gradients and of their squares. With gradient g and t, the number of
// pushes to this value:
//
//     g      = g + l2 * value
//     t     += 1
//     m      = beta1 * m + (1 - beta1) * g
//     v      = beta2 * v + (1 - beta2) * g * g
//     value -= learning_rate * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
//
// Kingma & Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, algorithm 1. State: m and v for each
// element, then t, which in float stops at 2^24. A rarely pushed value keeps its m and v meanwhile.
struct Adam {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double l2 = 0;
};

// FTRL-Proximal, online learning whose weights are exactly 0 unless there is evidence for them. For each
// element, with gradient g:
//
//     sigma = (sqrt(n + g * g) - sqrt(n)) / alpha
//     z    += g - sigma * value
//     n    += g * g
//     value = 0                                                              where |z| <= l1
//     value = -(z - sign(z) * l1) / ((beta + sqrt(n)) / alpha + l2)          otherwise
//
// McMahan et al., "Ad Click Prediction: a View from the Trenches", KDD 2013, algorithm 1. The learning rate
// of a step is alpha / (beta + sqrt(n)). State: z for each element, then n for each. docs/update-rules.md has
// the scale of a push, and the state of a value that is set.
struct Ftrl {
  double alpha = 0.1;
  double beta = 1;
  double l1 = 0;
  double l2 = 0;
};

}  // namespace lapse
