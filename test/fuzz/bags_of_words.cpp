// Bags of words, whole and in parts.
#include <optional>
#include <string>

#include "lapse/core/file_error.hpp"
#include "lapse/io/documents/bag_of_words.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_file.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace lapse::test {
namespace {

std::optional<io::BagOfWords> read(const io::Input& input, io::DocumentPart part = {}) {
  try {
    return io::read_bag_of_words(input, part);
  } catch (const FileError&) {
    return std::nullopt;
  }
}

void check_bag(const io::BagOfWords& bag) {
  std::uint64_t tokens = 0;
  for (std::size_t document = 0; document < bag.documents(); ++document) {
    std::uint64_t length = 0;
    for (const io::WordCount& word : bag.document(document)) {
      check(word.word < bag.words() && word.count > 0, "each word is one of the collection");
      length += word.count;
    }
    check(length == bag.lengths()[bag.number(document)] && length > 0, "documents have their tokens");
    tokens += length;
  }
  check(tokens == bag.tokens(), "tokens are counted");
}

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lapse::test;
  FuzzInput input(data, size);
  const std::uint64_t parts = 1 + input.byte() % 4;
  const std::string bytes = input.rest();
  const auto whole = read(source_input(bytes));
  if (!whole) return 0;
  check_bag(*whole);
  std::size_t documents = 0;
  for (std::uint64_t index = 0; index < parts; ++index) {
    const auto part = read(source_input(bytes), {.index = index, .count = parts, .width = 1});
    check(part.has_value(), "a part of a file that can be read can be read");
    check_bag(*part);
    documents += part->documents();
  }
  check(documents == whole->documents(), "the parts of a file have its documents");
  return 0;
}
