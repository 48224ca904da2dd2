// The Dirichlet priors of a topic model.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lapse::apps {

// Symmetric priors of latent Dirichlet allocation (Blei, Ng and Jordan 2003; Griffiths and Steyvers 2004).
struct TopicPriors {
  std::size_t topics = 100;
  double alpha = 0.5;       // of a document's topics
  double beta = 0.01;       // of a topic's words
  std::uint64_t words = 1;  // different words of the collection
};

}  // namespace lapse::apps
