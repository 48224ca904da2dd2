#include "apps/word_vectors/window_batch.hpp"

#include <algorithm>
#include <utility>

namespace lapse::apps {

void WindowBatch::clear() {
  input_keys.clear();
  output_keys.clear();
  tiles.clear();
  contexts.clear();
  targets.clear();
  words = 0;
}

WindowBatcher::WindowBatcher(const Corpus& corpus, const Subsampling& subsampling, const NoiseWords& noise,
                             const WindowOptions& options)
    : subsampling_(subsampling),
      noise_(noise),
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
  draw_pool();
  for (std::size_t windows = 0; windows < options_.batch; ++windows) {
    while (position_ == kept_.size()) {
      if (!next_sentence(batch)) return batch.words != 0 || windows != 0;
    }
    add_window(batch);
    ++position_;
  }
  return true;
}

void WindowBatcher::draw_pool() {
  if (options_.negative_uses == 1) return;
  pool_.resize((options_.batch * options_.negatives + options_.negative_uses - 1) / options_.negative_uses);
  for (WordId& word : pool_) word = noise_.draw(random_);
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
  const std::size_t before = batch.targets.size();
  batch.targets.push_back(output_slots_.slot(Key{word}, batch.output_keys));
  for (std::size_t i = 0; i < options_.negatives; ++i) {
    const WordId negative = draw_negative();
    if (negative != word) batch.targets.push_back(output_slots_.slot(Key{negative}, batch.output_keys));
  }
  batch.tiles.push_back({contexts, static_cast<std::uint32_t>(batch.targets.size() - before)});
}

}  // namespace lapse::apps
