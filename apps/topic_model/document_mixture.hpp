// Infers the topics of a document while the words of topics are fixed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/io/documents/bag_of_words.hpp"

namespace lapse::apps {

// Finds the mixture of topics theta of documents by collapsed variational inference of zeroth order, CVB0
// (Asuncion, Welling, Smyth and Teh, On Smoothing and Inference for Topic Models, UAI 2009): topic k has the
// weight p(w | k) (N_dk + alpha_k) for a token of word w, where N_dk is the expected number of the document's
// other tokens with topic k. It draws nothing at random, and one pass over a document takes the time of its
// different words.
//
// Thread safety: none.
class DocumentMixture {
 public:
  explicit DocumentMixture(std::span<const double> alpha);

  // Returns theta, (N_dk + alpha_k) / (n_d + A), which is valid until the next call. `words`: those of the
  // document; `of_topics`: a row of p(w | k), by topic, for each of them. Without words: the prior's mean.
  std::span<const double> infer(std::span<const io::WordCount> words,
                                std::span<const float* const> of_topics);

 private:
  // One pass over the words; returns how much the expected counts change, summed over topics.
  double pass(std::span<const io::WordCount> words, std::span<const float* const> of_topics);

  std::vector<float> alpha_;
  double all_alpha_;
  std::vector<float> expected_;       // N_dk, of all tokens
  std::vector<float> next_expected_;  // of this pass
  std::vector<float> shares_;         // of topics for a token, by word and topic
  std::vector<float> weights_;
  std::vector<double> theta_;
};

// Half of a document's tokens, drawn at random, and the other half; if their number is odd, the first half
// has one more. The result depends on the words, seed and the document's number alone.
struct HalvedDocument {
  std::vector<io::WordCount> first;
  std::vector<io::WordCount> second;
};
HalvedDocument halve(std::span<const io::WordCount> words, std::uint64_t seed, std::uint64_t number);

}  // namespace lapse::apps
