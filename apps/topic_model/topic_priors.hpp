// The Dirichlet priors of a topic model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace lapse::apps {

// Priors of latent Dirichlet allocation (Blei, Ng and Jordan 2003). Each topic may have its own prior in
// documents; all words have one in topics (Wallach, Mimno and McCallum, Rethinking LDA: Why Priors Matter,
// NIPS 2009).
struct TopicPriors {
  std::vector<double> alpha = {};  // of a document's topics, by topic
  double beta = 0.01;              // of a topic's words
  std::uint64_t words = 1;         // different words of the collection

  std::size_t topics() const { return alpha.size(); }
  double all_alpha() const { return std::accumulate(alpha.begin(), alpha.end(), 0.0); }
};

// All topics have the prior `alpha`, as Griffiths and Steyvers (2004) propose.
inline TopicPriors symmetric_priors(std::size_t topics, double alpha, double beta, std::uint64_t words) {
  return {.alpha = std::vector<double>(topics, alpha), .beta = beta, .words = words};
}

}  // namespace lapse::apps
