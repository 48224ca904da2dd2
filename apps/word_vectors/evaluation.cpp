#include "apps/word_vectors/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "apps/common/manager_program.hpp"
#include "lapse/core/error.hpp"
#include "lapse/io/files/file_descriptor.hpp"
#include "lapse/io/loading/shared_inputs.hpp"

namespace lapse::apps {

namespace {

[[noreturn]] void fail_without_words(const std::string& path, std::string_view what, std::uint64_t unknown) {
  throw ConfigurationError(fmt::format("{}: each of the {} {} has a word that is not in the vocabulary",
                                       io::input_name(path), unknown, what));
}

// The worker's share of the questions, about equal for all `count` workers.
std::span<const Analogy> part_of(std::span<const Analogy> questions, std::size_t index, std::size_t count) {
  const std::size_t begin = questions.size() * index / count;
  return questions.subspan(begin, questions.size() * (index + 1) / count - begin);
}

AnalogyResult answer(ParameterServer& server, std::int32_t workers, const AnalogySolver& solver,
                     const AnalogyQuestions& questions) {
  AnalogyResult result{questions.sections, std::vector<AnalogyScore>(questions.sections.size()), 0};
  for (const auto& section : questions.sections) result.unknown += section.unknown;
  for (const Analogy& question : questions.known) ++result.scores[question.section].answered;
  server.run_workers(std::max(1, workers), [&](Worker& worker) {
    const auto own = part_of(questions.known, worker.index(), worker.count());
    const std::vector<bool> is_correct = solver.is_correct(own);
    std::vector<std::int64_t> correct(result.scores.size());
    for (std::size_t i = 0; i < own.size(); ++i) correct[own[i].section] += is_correct[i] ? 1 : 0;
    worker.all_reduce(correct);
    if (worker.local_index() != 0) return;
    for (std::size_t section = 0; section < correct.size(); ++section)
      result.scores[section].correct = correct[section];
  });
  return result;
}

}  // namespace

EvaluationData load_evaluation(const EvaluationOptions& options, const io::Vocabulary& words,
                               const io::ReaderGroup& group) {
  const auto inputs = io::shared_inputs({options.analogies, options.word_similarity}, group);
  EvaluationData data;
  if (!options.analogies.empty()) {
    data.analogies = read_analogies(inputs[0], words);
    std::uint64_t unknown = 0;
    for (const auto& section : data.analogies->sections) unknown += section.unknown;
    if (data.analogies->known.empty()) fail_without_words(options.analogies, "questions", unknown);
  }
  if (!options.word_similarity.empty()) {
    data.pairs = read_word_pairs(inputs[1], words);
    if (data.pairs->known.empty()) fail_without_words(options.word_similarity, "pairs", data.pairs->unknown);
  }
  return data;
}

AnalogyScore AnalogyResult::sum(Kinds kinds) const {
  AnalogyScore sum;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].is_syntactic() ? kinds.syntactic : kinds.semantic) sum += scores[i];
  }
  return sum;
}

Evaluation evaluate(ParameterServer& server, std::int32_t workers, const WordVectors& vectors,
                    const EvaluationData& data) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  Evaluation evaluation;
  const auto rows = make_on_every_rank(server, [&] { return normalized_rows(vectors); });
  if (data.analogies) {
    const AnalogySolver solver(rows, vectors.dimensions);
    evaluation.analogies = answer(server, workers, solver, *data.analogies);
  }
  if (data.pairs) {
    evaluation.similarity = {similarity_correlation(data.pairs->known, rows, vectors.dimensions),
                             data.pairs->known.size(), data.pairs->unknown};
  }
  evaluation.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return evaluation;
}

}  // namespace lapse::apps
