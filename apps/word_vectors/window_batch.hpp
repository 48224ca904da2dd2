// Windows of words that are trained together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "adapm/sampler.hpp"
#include "apps/common/key_slots.hpp"
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
  double noise_exponent = 0.75;  // negatives are drawn in proportion to the words' counts to this power
  std::size_t batch = 512;       // words, with their windows, that are trained together
};

// Negatives that are drawn for a word on average, where sentences are much longer than windows.
double draws_per_word(const WindowOptions& options);

// Words with their contexts. Each distinct key of the two tables has a slot, its index in the list of keys.
// It is made in two steps: WindowBatcher collects the words of the text, NegativePlacer adds the negatives.
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
  // Slots of output keys, tile by tile. Before the second step negatives have the numbers of draws.
  std::vector<std::uint32_t> targets;
  std::size_t draws = 0;    // negatives that are to be drawn
  std::uint64_t words = 0;  // of the text, with those that subsampling has dropped
  // Of the negatives; empty where they are drawn when the batch is made.
  std::optional<adapm::PreparedSample<float>> sample;

  void clear();
};

// Collects the words of a stream of sentences. What it draws depends on options, seed, stream and sentences
// alone. A sentence may continue in the next batch. Used by one thread.
class WindowBatcher {
 public:
  // Puts the next sentence into its argument; false at the end.
  using Source = std::function<bool(Sentence&)>;

  // The subsampling must outlive it.
  WindowBatcher(const Corpus& corpus, const Subsampling& subsampling, const WindowOptions& options);

  // Forgets the sentence that it is in.
  void restart(Source source, const RandomEngine& random);
  // False at the end of the sentences, without a batch. A batch at the end may have no windows.
  bool fill(WindowBatch& batch);

 private:
  void add_windows(WindowBatch& batch);
  bool next_sentence(WindowBatch& batch);
  void add_window(WindowBatch& batch);
  void add_targets(WindowBatch& batch, WordId word, std::uint32_t contexts);
  // Decides which draw each negative is.
  void number_draws(WindowBatch& batch);

  const Subsampling& subsampling_;
  WindowOptions options_;
  Source source_;
  RandomEngine random_{0};
  KeySlots input_slots_;
  KeySlots output_slots_;
  Sentence sentence_;
  Sentence kept_;             // what subsampling has left of it
  std::size_t position_ = 0;  // in kept_: the word whose window is next
};

// Puts negatives into batches. Used by one thread.
class NegativePlacer {
 public:
  explicit NegativePlacer(std::uint64_t words) : slots_(words) {}

  // As many as batch.draws. A negative that is the word itself is left out.
  void place(WindowBatch& batch, std::span<const Key> drawn);

 private:
  KeySlots slots_;
  std::vector<Key> keys_;
  std::vector<std::uint32_t> slot_of_draw_;
};

}  // namespace lapse::apps
