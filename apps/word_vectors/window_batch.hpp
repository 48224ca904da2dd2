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
  std::size_t window = 5;     // the most words on each side of a word
  std::size_t negatives = 5;  // words drawn for each word, or for each of its contexts
  // Whether the contexts of a word share its negatives: then fewer vectors are accessed, each more often.
  bool shared_negatives = true;
  // The average number of uses of each negative drawn for a batch, by random words: the more uses, the fewer
  // vectors are accessed, and the less negatives vary. 1: each word draws its own.
  std::size_t negative_uses = 8;
  double subsample = 1e-4;       // see Subsampling
  double noise_exponent = 0.75;  // negatives are drawn proportionally to the words' counts to this power
  std::size_t batch = 512;       // words, with their windows, trained together
};

// The average number of negatives drawn for a word, if sentences are much longer than windows.
double draws_per_word(const WindowOptions& options);

// Words with their contexts. Each distinct key of the two tables has a slot, its index in the list of keys.
// Made in two steps: WindowBatcher collects the words of the text, then NegativePlacer adds the negatives.
struct WindowBatch {
  // Every context is trained with every target: the first target is the word itself, whose probability should
  // rise; the others are negatives.
  struct Tile {
    std::uint32_t contexts;
    std::uint32_t targets;
  };

  std::vector<Key> input_keys;
  std::vector<Key> output_keys;
  std::vector<Tile> tiles;
  std::vector<std::uint32_t> contexts;  // slots of input keys, tile by tile
  // Slots of output keys, tile by tile. Before the second step, negatives are numbers of draws.
  std::vector<std::uint32_t> targets;
  std::size_t draws = 0;    // negatives to draw
  std::uint64_t words = 0;  // of the text, including those dropped by subsampling
  // The sample of negatives; nullopt if they are drawn when the batch is made.
  std::optional<adapm::PreparedSample<float>> sample;

  void clear();
};

// Collects the words of a stream of sentences. Its draws depend only on options, seed, stream and sentences.
// A sentence may continue in the next batch. Used by one thread.
class WindowBatcher {
 public:
  // Writes the next sentence to its argument; returns false at the end.
  using Source = std::function<bool(Sentence&)>;

  // The subsampling must outlive it.
  WindowBatcher(const Corpus& corpus, const Subsampling& subsampling, const WindowOptions& options);

  // Starts with a new source; forgets the current sentence.
  void restart(Source source, const RandomEngine& random);
  // Returns false, without a batch, at the end of the sentences. A batch at the end may have no windows.
  bool fill(WindowBatch& batch);

 private:
  void add_windows(WindowBatch& batch);
  bool next_sentence(WindowBatch& batch);
  void add_window(WindowBatch& batch);
  void add_targets(WindowBatch& batch, WordId word, std::uint32_t contexts);
  // Assigns draws to negatives.
  void number_draws(WindowBatch& batch);

  const Subsampling& subsampling_;
  WindowOptions options_;
  Source source_;
  RandomEngine random_{0};
  KeySlots input_slots_;
  KeySlots output_slots_;
  Sentence sentence_;
  Sentence kept_;             // its words after subsampling
  std::size_t position_ = 0;  // in kept_: the word whose window is next
};

// Adds negatives to batches. Used by one thread.
class NegativePlacer {
 public:
  explicit NegativePlacer(std::uint64_t words) : slots_(words) {}

  // Requires batch.draws keys. Skips a negative that is the word itself.
  void place(WindowBatch& batch, std::span<const Key> drawn);

 private:
  KeySlots slots_;
  std::vector<Key> keys_;
  std::vector<std::uint32_t> slot_of_draw_;
};

}  // namespace lapse::apps
