#include "apps/word_vectors/analogies.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "apps/common/word_splitter.hpp"
#include "apps/word_vectors/lower_case.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/files/file_descriptor.hpp"
#include "lapse/io/files/utf8.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/text/text_fields.hpp"
#include "lapse/store/update_rules/kernels.hpp"

namespace lapse::apps {

namespace {

// Questions answered together: their vectors stay in the cache while iterating over all words.
constexpr std::size_t kQuestionsPerPass = 32;

using Ids = std::array<io::Vocabulary::Id, 4>;

// Returns nullopt if a word is unknown.
std::optional<Ids> parse_question(const io::LineReader& reader, std::string_view line,
                                  const io::Vocabulary& words) {
  WordSplitter splitter(line);
  Ids ids{};
  std::size_t count = 0;
  bool known = true;
  for (std::string_view word; splitter.next(word); ++count) {
    if (count == ids.size()) reader.fail("a fifth word, expected four words or `: section`", word);
    const auto id = words.find(lower_case(word));
    known = known && id;
    if (id) ids[count] = *id;
  }
  if (count != ids.size()) reader.fail("fewer than four words, expected four words or `: section`", line);
  return known ? std::optional(ids) : std::nullopt;
}

}  // namespace

AnalogyQuestions read_analogies(const io::Input& input, const io::Vocabulary& words) {
  AnalogyQuestions questions;
  io::LineReader reader(input);
  std::uint64_t count = 0;
  for (std::string_view line; reader.next(line);) {
    const std::string_view text = io::trimmed(line);
    if (text.empty()) continue;
    if (text.starts_with(':')) {
      const std::string_view name = io::trimmed(text.substr(1));
      const std::size_t valid = io::valid_utf8_bytes(name);
      if (valid != name.size())
        reader.fail("byte that is not UTF-8 in the name of a section, expected a text file",
                    name.substr(valid));
      if (name.empty()) reader.fail("a section without a name, expected `: section`", line);
      questions.sections.push_back({std::string(name), 0});
      continue;
    }
    if (questions.sections.empty()) reader.fail("a question, expected a line `: section` before it", line);
    ++count;
    const auto section = static_cast<std::uint32_t>(questions.sections.size() - 1);
    if (const auto ids = parse_question(reader, text, words)) {
      questions.known.push_back({(*ids)[0], (*ids)[1], (*ids)[2], (*ids)[3], section});
    } else {
      ++questions.sections.back().unknown;
    }
  }
  if (count == 0) throw FileError(io::input_name(input.path()), "contains no questions");
  return questions;
}

std::vector<bool> AnalogySolver::is_correct(std::span<const Analogy> questions) const {
  const auto row = [&](std::uint64_t word) { return rows_.subspan(word * dimensions_, dimensions_); };
  const std::uint64_t words = rows_.size() / dimensions_;
  std::vector<bool> correct;
  std::vector<float> wanted(kQuestionsPerPass * dimensions_);
  while (!questions.empty()) {
    const auto pass = questions.first(std::min(kQuestionsPerPass, questions.size()));
    questions = questions.subspan(pass.size());
    std::array<float, kQuestionsPerPass> best{};
    std::array<std::optional<std::uint64_t>, kQuestionsPerPass> answer{};
    for (std::size_t i = 0; i < pass.size(); ++i) {
      for (std::size_t d = 0; d < dimensions_; ++d)
        wanted[i * dimensions_ + d] = row(pass[i].b)[d] - row(pass[i].a)[d] + row(pass[i].c)[d];
    }
    for (std::uint64_t word = 0; word < words; ++word) {
      const float* const candidate = row(word).data();
      for (std::size_t i = 0; i < pass.size(); ++i) {
        const float cosine = kernels<float>().dot(wanted.data() + i * dimensions_, candidate, dimensions_);
        if (answer[i] && !(cosine > best[i])) continue;
        if (word == pass[i].a || word == pass[i].b || word == pass[i].c) continue;
        best[i] = cosine;
        answer[i] = word;
      }
    }
    for (std::size_t i = 0; i < pass.size(); ++i) correct.push_back(answer[i] == pass[i].d);
  }
  return correct;
}

}  // namespace lapse::apps
