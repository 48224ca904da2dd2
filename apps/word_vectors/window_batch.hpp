// Windows of words that are trained together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "apps/common/key_slots.hpp"
#include "apps/word_vectors/noise_words.hpp"
#include "apps/word_vectors/sentence_reader.hpp"
#include "apps/word_vectors/subsampling.hpp"
#include "lapse/core/random.hpp"

namespace lapse::apps {

struct WindowOptions {
  std::size_t window = 5;     // words to each side of a word, at most
  std::size_t negatives = 5;  // words that are drawn for each word, or for each of its contexts
  // The contexts of a word share its negatives: fewer vectors are accessed, and each more often.
  bool shared_negatives = true;
  // So often each negative that is drawn for a batch is used on average, by words at random: the more often,
  // the fewer vectors are accessed, and the less its batches differ. 1: each word draws its own.
  std::size_t negative_uses = 8;
  double subsample = 1e-4;       // see Subsampling
  double noise_exponent = 0.75;  // see NoiseWords
  std::size_t batch = 512;       // words, with their windows, that are trained together
};

// Words with their contexts. Each distinct key of the two tables has a slot, its index in the list of keys.
struct WindowBatch {
  // Every context is trained with every target: the first target is the word itself, whose probability is to
  // rise, the others are negatives.
  struct Tile {
    std::uint32_t contexts;
    std::uint32_t targets;
  };

  std::vector<Key> input_keys;
  std::vector<Key> output_keys;
  std::vector<Tile> tiles;
  std::vector<std::uint32_t> contexts;  // slots of input keys, tile by tile
  std::vector<std::uint32_t> targets;   // slots of output keys, tile by tile
  std::uint64_t words = 0;              // of the text, with those that subsampling has dropped

  void clear();
};

// Makes batches of a stream of sentences. What it draws depends on options, seed, stream and sentences alone.
// A sentence may continue in the next batch. Used by one thread.
class WindowBatcher {
 public:
  // Puts the next sentence into its argument; false at the end.
  using Source = std::function<bool(Sentence&)>;

  // All must outlive it.
  WindowBatcher(const Corpus& corpus, const Subsampling& subsampling, const NoiseWords& noise,
                const WindowOptions& options);

  // Forgets the sentence that it is in.
  void restart(Source source, const RandomEngine& random);
  // False at the end of the sentences, without a batch. A batch at the end may have no windows.
  bool fill(WindowBatch& batch);

 private:
  bool next_sentence(WindowBatch& batch);
  void add_window(WindowBatch& batch);
  void add_targets(WindowBatch& batch, WordId word, std::uint32_t contexts);
  void draw_pool();
  WordId draw_negative() { return pool_.empty() ? noise_.draw(random_) : pool_[random_.below(pool_.size())]; }

  const Subsampling& subsampling_;
  const NoiseWords& noise_;
  WindowOptions options_;
  Source source_;
  RandomEngine random_{0};
  KeySlots input_slots_;
  KeySlots output_slots_;
  std::vector<WordId> pool_;  // of negatives for the batch; empty: none
  Sentence sentence_;
  Sentence kept_;             // what subsampling has left of it
  std::size_t position_ = 0;  // in kept_: the word whose window is next
};

}  // namespace lapse::apps
