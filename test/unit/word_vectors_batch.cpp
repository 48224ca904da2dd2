// Windows of words, and the steps of skip-gram on them.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "apps/word_vectors/skip_gram.hpp"
#include "apps/word_vectors/vector_tables.hpp"
#include "apps/word_vectors/window_batch.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;

namespace {

constexpr WordId kWords = 40;

Corpus corpus_of_equal_words() {
  Corpus corpus;
  for (WordId word = 0; word < kWords; ++word) corpus.words.add(std::to_string(word), 10);
  corpus.occurrences = 10 * kWords;
  return corpus;
}

// The parameters of batches of several sentences.
struct BatcherSetup {
  explicit BatcherSetup(const WindowOptions& options)
      : corpus(corpus_of_equal_words()),
        subsampling(corpus, options.subsample),
        noise(noise_distribution(corpus, options.noise_exponent)),
        batcher(corpus, subsampling, options),
        placer(kWords) {}

  void restart(std::vector<Sentence> sentences, std::uint64_t seed = 1) {
    batcher.restart(
        [sentences = std::move(sentences), next = std::size_t{0}](Sentence& sentence) mutable {
          if (next == sentences.size()) return false;
          sentence = sentences[next++];
          return true;
        },
        RandomEngine(seed));
    random = RandomEngine(seed, 1);
  }

  bool fill(WindowBatch& batch) {
    if (!batcher.fill(batch)) return false;
    std::vector<Key> drawn(batch.draws);
    noise->draw(random, drawn);
    placer.place(batch, drawn);
    return true;
  }

  Corpus corpus;
  Subsampling subsampling;
  adapm::Distribution::Shared noise;
  WindowBatcher batcher;
  NegativePlacer placer;
  RandomEngine random{0};
};

// A tile with words in place of slots.
struct WordTile {
  std::vector<WordId> contexts;
  std::vector<WordId> targets;
  bool operator==(const WordTile&) const = default;
};

std::vector<WordTile> tiles_of(const WindowBatch& batch) {
  std::vector<WordTile> tiles;
  std::size_t context = 0;
  std::size_t target = 0;
  for (const WindowBatch::Tile& tile : batch.tiles) {
    WordTile& words = tiles.emplace_back();
    for (std::uint32_t i = 0; i < tile.contexts; ++i)
      words.contexts.push_back(
          static_cast<WordId>(batch.input_keys.at(batch.contexts.at(context++)).value()));
    for (std::uint32_t i = 0; i < tile.targets; ++i)
      words.targets.push_back(static_cast<WordId>(batch.output_keys.at(batch.targets.at(target++)).value()));
  }
  CHECK(context == batch.contexts.size());
  CHECK(target == batch.targets.size());
  return tiles;
}

std::vector<WordTile> all_tiles(BatcherSetup& setup, std::size_t batch_size, std::uint64_t* words = nullptr) {
  std::vector<WordTile> tiles;
  for (WindowBatch batch; setup.fill(batch);) {
    CHECK(batch.tiles.size() <= batch_size);
    std::set<Key> keys(batch.output_keys.begin(), batch.output_keys.end());
    CHECK(keys.size() == batch.output_keys.size());
    for (WordTile& tile : tiles_of(batch)) tiles.push_back(std::move(tile));
    if (words != nullptr) *words += batch.words;
  }
  return tiles;
}

}  // namespace

TEST_CASE("so many negatives are drawn for a word on average") {
  const WindowOptions options{.window = 4,
                              .negatives = 3,
                              .shared_negatives = GENERATE(true, false),
                              .negative_uses = GENERATE(1, 5),
                              .subsample = 0,
                              .batch = 100};
  BatcherSetup setup(options);
  constexpr WordId kLength = 20'000;
  Sentence sentence;
  for (WordId i = 0; i < kLength; ++i) sentence.push_back(i % kWords);
  setup.restart({sentence});
  double draws = 0;
  for (WindowBatch batch; setup.fill(batch);) draws += static_cast<double>(batch.draws);
  CHECK(draws / kLength == Approx(draws_per_word(options)).epsilon(0.03));
}

TEST_CASE("each word of a sentence is a target for the words around it") {
  const std::size_t batch = GENERATE(1, 3, 100);
  const WindowOptions options{.window = 2, .negatives = 3, .subsample = 0, .batch = batch};
  BatcherSetup setup(options);
  setup.restart({{0, 1, 2, 3, 4}, {5}, {6, 7}});
  std::uint64_t words = 0;
  const std::vector<WordTile> tiles = all_tiles(setup, batch, &words);
  CHECK(words == 8);
  // A single word has no contexts.
  REQUIRE(tiles.size() == 7);
  for (WordId word = 0; word < 5; ++word) {
    const WordTile& tile = tiles[word];
    CHECK(tile.targets.front() == word);
    CHECK(tile.targets.size() <= 4);
    for (std::size_t i = 1; i < tile.targets.size(); ++i) CHECK(tile.targets[i] != word);
    const auto near = [&](std::int64_t reach) {
      std::vector<WordId> contexts;
      for (std::int64_t i = word - reach; i <= word + reach; ++i) {
        if (i >= 0 && i < 5 && i != word) contexts.push_back(static_cast<WordId>(i));
      }
      return contexts;
    };
    CHECK((tile.contexts == near(1) || tile.contexts == near(2)));
  }
  CHECK(tiles[5].contexts == std::vector<WordId>{7});
  CHECK(tiles[6].contexts == std::vector<WordId>{6});
}

TEST_CASE("every reach up to the window is equally likely") {
  const WindowOptions options{.window = 4, .negatives = 0, .subsample = 0, .batch = 64};
  BatcherSetup setup(options);
  Sentence sentence(20000);
  for (std::size_t i = 0; i < sentence.size(); ++i) sentence[i] = static_cast<WordId>(i % kWords);
  setup.restart({sentence});
  std::map<std::size_t, int> counts;
  for (const WordTile& tile : all_tiles(setup, 64)) ++counts[tile.contexts.size()];
  for (const std::size_t contexts : {2, 4, 6, 8}) CHECK(counts[contexts] == Approx(5000).epsilon(0.06));
}

TEST_CASE("negatives are shared by the contexts of a word, or drawn for each of them") {
  WindowOptions options{.window = 3, .negatives = 6, .subsample = 0, .batch = 100};
  const Sentence sentence{0, 1, 2, 3, 4, 5, 6, 7};
  BatcherSetup shared(options);
  shared.restart({sentence});
  CHECK(all_tiles(shared, 100).size() == sentence.size());
  options.shared_negatives = false;
  BatcherSetup separate(options);
  separate.restart({sentence});
  std::size_t contexts = 0;
  std::set<std::vector<WordId>> targets;
  const std::vector<WordTile> tiles = all_tiles(separate, 100);
  for (const WordTile& tile : tiles) {
    CHECK(tile.contexts.size() == 1);
    contexts += tile.contexts.size();
    targets.insert(tile.targets);
  }
  CHECK(targets.size() > tiles.size() / 2);
  CHECK(contexts > sentence.size());
}

TEST_CASE("batches depend on seed and sentences, not on the size of batches") {
  const std::vector<Sentence> sentences(20, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const auto tiles = [&](std::size_t batch, std::uint64_t seed) {
    const WindowOptions options{.negative_uses = 1, .subsample = 0.01, .batch = batch};
    BatcherSetup setup(options);
    setup.restart(sentences, seed);
    return all_tiles(setup, batch);
  };
  CHECK(tiles(7, 1) == tiles(1000, 1));
  CHECK(tiles(7, 1) != tiles(7, 2));
}

TEST_CASE(
    "the words of a batch take their negatives from a pool, in which each is used so often on average") {
  const WindowOptions options{.negatives = 5, .negative_uses = 10, .subsample = 0, .batch = 60};
  BatcherSetup setup(options);
  setup.restart(std::vector<Sentence>(12, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  std::set<std::set<WordId>> pools;
  for (WindowBatch batch; setup.fill(batch);) {
    REQUIRE(batch.tiles.size() == 60);
    std::set<WordId> negatives;
    for (const WordTile& tile : tiles_of(batch)) {
      CHECK(tile.targets.size() <= 6);
      negatives.insert(tile.targets.begin() + 1, tile.targets.end());
    }
    CHECK(negatives.size() > 5);
    CHECK(negatives.size() <= 30);  // 60 words with 5 each, 10 uses
    pools.insert(negatives);
  }
  CHECK(pools.size() == 2);  // the next batch has another pool
}

TEST_CASE("words that subsampling drops are counted, and have no windows") {
  const WindowOptions options{.subsample = 1e-12, .batch = 10};
  BatcherSetup setup(options);
  setup.restart({{1, 2, 3}, {4, 5}});
  WindowBatch batch;
  REQUIRE(setup.fill(batch));
  CHECK(batch.words == 5);
  CHECK(batch.tiles.empty());
  CHECK_FALSE(setup.fill(batch));
}

namespace {

constexpr std::size_t kDimensions = 5;

// Two windows: contexts 0 and 1 with the targets 0, 1, 2, and context 1 with the targets 2, 0.
WindowBatch two_tiles() {
  WindowBatch batch;
  batch.input_keys = {Key{3}, Key{4}};
  batch.output_keys = {Key{5}, Key{6}, Key{7}};
  batch.tiles = {{2, 3}, {1, 2}};
  batch.contexts = {0, 1, 1};
  batch.targets = {0, 1, 2, 2, 0};
  return batch;
}

std::vector<float> some_vectors(std::size_t count, std::uint64_t seed) {
  RandomEngine random(seed);
  std::vector<float> vectors(count * kDimensions);
  for (float& element : vectors) element = static_cast<float>(random.uniform() - 0.5);
  return vectors;
}

// The loss of equation 4, for each context with its targets.
double loss_of(const WindowBatch& batch, const std::vector<float>& inputs,
               const std::vector<float>& outputs) {
  double loss = 0;
  std::size_t context = 0;
  std::size_t target = 0;
  for (const WindowBatch::Tile& tile : batch.tiles) {
    for (std::uint32_t c = 0; c < tile.contexts; ++c) {
      for (std::uint32_t t = 0; t < tile.targets; ++t) {
        double product = 0;
        for (std::size_t d = 0; d < kDimensions; ++d) {
          product += static_cast<double>(inputs[batch.contexts[context + c] * kDimensions + d]) *
                     static_cast<double>(outputs[batch.targets[target + t] * kDimensions + d]);
        }
        loss += std::log(1 + std::exp(t == 0 ? -product : product));
      }
    }
    context += tile.contexts;
    target += tile.targets;
  }
  return loss;
}

}  // namespace

TEST_CASE("the gradients are those of the loss") {
  const WindowBatch batch = two_tiles();
  std::vector<float> inputs = some_vectors(2, 1);
  std::vector<float> outputs = some_vectors(3, 2);
  std::vector<float> input_gradients(inputs.size());
  std::vector<float> output_gradients(outputs.size());
  SkipGram skip_gram(kDimensions);
  const LossSum loss = skip_gram.add_gradients(batch, inputs, outputs, input_gradients, output_gradients);
  CHECK(loss.loss == Approx(loss_of(batch, inputs, outputs)).epsilon(2e-3));
  CHECK(loss.contexts == 3);
  const auto check = [&](std::vector<float>& vectors, const std::vector<float>& gradients) {
    constexpr float kStep = 1e-2F;
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      const float value = vectors[i];
      vectors[i] = value + kStep;
      const double above = loss_of(batch, inputs, outputs);
      vectors[i] = value - kStep;
      const double below = loss_of(batch, inputs, outputs);
      vectors[i] = value;
      CHECK(gradients[i] == Approx((above - below) / (2 * kStep)).margin(5e-3));
    }
  };
  check(inputs, input_gradients);
  check(outputs, output_gradients);
}

TEST_CASE("a step of descent goes against the gradient") {
  WindowBatch batch = two_tiles();
  // One context: its step reads the vectors before any change.
  batch.tiles = {{1, 3}};
  batch.contexts = {0};
  batch.targets = {0, 1, 2};
  const std::vector<float> inputs = some_vectors(2, 1);
  const std::vector<float> outputs = some_vectors(3, 2);
  std::vector<float> input_gradients(inputs.size());
  std::vector<float> output_gradients(outputs.size());
  SkipGram skip_gram(kDimensions);
  skip_gram.add_gradients(batch, inputs, outputs, input_gradients, output_gradients);
  std::vector<float> stepped_inputs = inputs;
  std::vector<float> stepped_outputs = outputs;
  skip_gram.descend(batch, 0.5F, stepped_inputs, stepped_outputs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    CHECK(stepped_inputs[i] == Approx(inputs[i] - 0.5F * input_gradients[i]).margin(1e-6));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    CHECK(stepped_outputs[i] == Approx(outputs[i] - 0.5F * output_gradients[i]).margin(1e-6));
}

TEST_CASE("descent lowers the loss, and what is not a number shows in it") {
  const WindowBatch batch = two_tiles();
  std::vector<float> inputs = some_vectors(2, 3);
  std::vector<float> outputs = some_vectors(3, 4);
  SkipGram skip_gram(kDimensions);
  const double before = loss_of(batch, inputs, outputs);
  for (int i = 0; i < 300; ++i) skip_gram.descend(batch, 0.1F, inputs, outputs);
  CHECK(loss_of(batch, inputs, outputs) < before / 2);
  inputs[kDimensions] = std::nanf("");
  CHECK(std::isnan(skip_gram.descend(batch, 0.1F, inputs, outputs).loss));
}

TEST_CASE("a batch of confident vectors has a finite loss") {
  WindowBatch batch;
  batch.input_keys = {Key{0}};
  batch.output_keys = {Key{0}, Key{1}};
  batch.tiles = {{1, 2}};
  batch.contexts = {0};
  batch.targets = {0, 1};
  std::vector<float> input(kDimensions, 100);
  std::vector<float> outputs(2 * kDimensions, 100);
  std::fill(outputs.begin(), outputs.begin() + kDimensions, -100.0F);
  SkipGram skip_gram(kDimensions);
  const double loss = skip_gram.descend(batch, 1e-9F, input, outputs).loss;
  CHECK(loss == Approx(16).epsilon(0.01));  // 8 for each of two wrong answers
}
