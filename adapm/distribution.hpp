// Distributions over keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "adapm/alias_table.hpp"
#include "adapm/intent.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"

namespace adapm {

// A distribution over keys, for samplers of a parameter manager or alone. Its keys with a positive
// probability are its *support*. Draws depend only on the random engine; log_uniform also on the mathematical
// library.
//
// The constructors throw UsageError for no keys, for a weight that is negative, infinite or NaN, if no weight
// is above 0, and for more than 2^32 weights; OutOfMemory if the table of weights cannot be allocated.
//
// Thread safety: constant; each thread draws with an engine of its own.
class LAPSE_EXPORT Distribution {
 public:
  using Shared = std::shared_ptr<const Distribution>;

  // All keys of the range with equal probability. Takes no memory for keys.
  static Shared uniform(KeyRange range);
  // Key number k of the range (from 0) with probability log((k + 2) / (k + 1)) / log(n + 1), for keys sorted
  // by falling frequency that follow Zipf's law. Takes no memory for keys. In ranges of 2^47 keys or more,
  // some keys are never drawn.
  static Shared log_uniform(KeyRange range);
  // Key first + i with a probability proportional to counts[i]^exponent; keys with count 0 are never drawn.
  // word2vec uses the exponent 0.75.
  static Shared by_frequency(std::span<const std::uint64_t> counts, double exponent,
                             lapse::Key first = lapse::Key(0));
  // Key first + i with a probability proportional to weights[i]. Takes 8 bytes for each weight.
  static Shared weighted(std::span<const double> weights, lapse::Key first = lapse::Key(0));
  // keys[i] with a probability proportional to weights[i]; no key twice. Takes 16 bytes for each weight.
  static Shared weighted(std::span<const lapse::Key> keys, std::span<const double> weights);

  lapse::Key draw(lapse::RandomEngine& random) const {
    if (table_) return key(table_->draw(random));
    return kind_ == Kind::uniform ? key(random.below(size_)) : draw_log_uniform(random);
  }
  // Fills `keys` with independent draws.
  void draw(lapse::RandomEngine& random, std::span<lapse::Key> keys) const;

  // The number of keys with a positive probability.
  std::uint64_t support() const { return support_; }
  // The first and the last key of the support.
  lapse::Key first_key() const { return first_; }
  lapse::Key last_key() const { return last_; }
  // Every key of the support with its probability under draw. Takes at least 8 bytes a key.
  struct KeyProbability {
    lapse::Key key;
    double probability;
  };
  std::vector<KeyProbability> probabilities() const;

  // Memory of the object in bytes.
  std::size_t memory_bytes() const;
  // A description with a checksum; equal for equal distributions.
  std::string to_text() const;

 private:
  enum class Kind : std::uint8_t { uniform, log_uniform, weighted };

  Distribution(Kind kind, KeyRange range);
  Distribution(std::span<const double> weights, lapse::Key first, std::vector<lapse::Key> keys);

  lapse::Key key(std::uint64_t number) const {
    return keys_.empty() ? lapse::Key(base_.value() + number) : keys_[number];
  }
  lapse::Key draw_log_uniform(lapse::RandomEngine& random) const;

  const Kind kind_;
  lapse::Key base_;  // key number 0, if keys_ is empty
  lapse::Key first_;
  lapse::Key last_;
  std::uint64_t size_;
  std::uint64_t support_;
  double log_size_ = 0;  // of size + 1
  std::optional<AliasTable> table_;
  std::vector<lapse::Key> keys_;  // by number; empty: consecutive from base_
};

}  // namespace adapm
