#include "apps/word_vectors/window_batch.hpp"

#include <algorithm>
#include <utility>

namespace lapse::apps {

double draws_per_word(const WindowOptions& options) {
  // On each side 1 to `window` contexts, with equal probabilities.
  const double contexts = static_cast<double>(options.window) + 1;
  const double lists = options.shared_negatives ? 1 : contexts;
  return lists * static_cast<double>(options.negatives) / static_cast<double>(options.negative_uses);
}

void WindowBatch::clear() {
  input_keys.clear();
  output_keys.clear();
  tiles.clear();
  contexts.clear();
  targets.clear();
  draws = 0;
  words = 0;
  sample.reset();
}

WindowBatcher::WindowBatcher(const Corpus& corpus, const Subsampling& subsampling,
                             const WindowOptions& options)
    : subsampling_(subsampling),
      options_(options),
      input_slots_(corpus.words.size()),
      output_slots_(corpus.words.size()) {}

void WindowBatcher::restart(Source source, const RandomEngine& random) {
  source_ = std::move(source);
  random_ = random;
  kept_.clear();
  position_ = 0;
}

bool WindowBatcher::fill(WindowBatch& batch) {
  batch.clear();
  input_slots_.start_batch();
  output_slots_.start_batch();
  add_windows(batch);
  number_draws(batch);
  return batch.words != 0 || !batch.tiles.empty();
}

void WindowBatcher::add_windows(WindowBatch& batch) {
  for (std::size_t windows = 0; windows < options_.batch; ++windows) {
    while (position_ == kept_.size()) {
      if (!next_sentence(batch)) return;
    }
    add_window(batch);
    ++position_;
  }
}

bool WindowBatcher::next_sentence(WindowBatch& batch) {
  if (!source_(sentence_)) return false;
  batch.words += sentence_.size();
  kept_.clear();
  for (const WordId word : sentence_) {
    if (subsampling_.keeps(word, random_)) kept_.push_back(word);
  }
  if (kept_.size() < 2) kept_.clear();  // no contexts
  position_ = 0;
  return true;
}

void WindowBatcher::add_window(WindowBatch& batch) {
  const std::size_t reach = 1 + random_.below(options_.window);
  const std::size_t begin = position_ - std::min(reach, position_);
  const std::size_t end = std::min(position_ + reach + 1, kept_.size());
  const WordId word = kept_[position_];
  std::uint32_t contexts = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (i == position_) continue;
    batch.contexts.push_back(input_slots_.slot(Key{kept_[i]}, batch.input_keys));
    ++contexts;
    if (!options_.shared_negatives) add_targets(batch, word, 1);
  }
  if (options_.shared_negatives) add_targets(batch, word, contexts);
}

void WindowBatcher::add_targets(WindowBatch& batch, WordId word, std::uint32_t contexts) {
  batch.targets.push_back(output_slots_.slot(Key{word}, batch.output_keys));
  for (std::size_t i = 0; i < options_.negatives; ++i)
    batch.targets.push_back(static_cast<std::uint32_t>(batch.draws++));
  batch.tiles.push_back({contexts, static_cast<std::uint32_t>(1 + options_.negatives)});
}

void WindowBatcher::number_draws(WindowBatch& batch) {
  if (options_.negative_uses == 1 || batch.draws == 0) return;
  batch.draws = (batch.draws + options_.negative_uses - 1) / options_.negative_uses;
  std::size_t target = 0;
  for (const WindowBatch::Tile& tile : batch.tiles) {
    for (std::uint32_t i = 1; i < tile.targets; ++i)
      batch.targets[target + i] = static_cast<std::uint32_t>(random_.below(batch.draws));
    target += tile.targets;
  }
}

void NegativePlacer::place(WindowBatch& batch, std::span<const Key> drawn) {
  slots_.start_batch();
  keys_.clear();
  for (const Key key : batch.output_keys) slots_.slot(key, keys_);  // in the same order
  slot_of_draw_.clear();
  for (const Key key : drawn) slot_of_draw_.push_back(slots_.slot(key, batch.output_keys));
  std::size_t from = 0;
  std::size_t to = 0;
  for (WindowBatch::Tile& tile : batch.tiles) {
    const std::uint32_t word = batch.targets[from];
    std::uint32_t targets = 0;
    batch.targets[to + targets++] = word;
    for (std::uint32_t i = 1; i < tile.targets; ++i) {
      const std::uint32_t negative = slot_of_draw_[batch.targets[from + i]];
      if (negative != word) batch.targets[to + targets++] = negative;
    }
    from += tile.targets;
    to += targets;
    tile.targets = targets;
  }
  batch.targets.resize(to);
}

}  // namespace lapse::apps
