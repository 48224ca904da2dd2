// Triple files, of names and of numbers, whole and in parts.
#include <optional>
#include <string>

#include "lapse/io/triples/triple_file.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_file.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace lapse::test {
namespace {

// The number of triples; nullopt if the input is refused. All names are known afterwards.
std::optional<std::size_t> read_names(const io::Input& input, io::FilePart part = {}) {
  io::Vocabulary entities;
  io::Vocabulary relations;
  try {
    const io::TripleFile file =
        io::read_triples(input, io::NameIds::growing(entities), io::NameIds::growing(relations), part);
    check(file.left_out == 0, "a name that is added is known");
    for (const io::Triple& triple : file.triples) {
      check(triple.subject < entities.size() && triple.object < entities.size() &&
                triple.relation < relations.size(),
            "each id belongs to a name");
    }
    return file.triples.size();
  } catch (const FileError&) {
    return std::nullopt;
  }
}

// Reads with vocabularies that know only some of the names.
void read_known_names(const io::Input& input, std::size_t triples) {
  io::Vocabulary entities;
  io::Vocabulary relations;
  entities.add("a");
  relations.add("r");
  const io::TripleFile file =
      io::read_triples(input, io::NameIds::frozen(entities), io::NameIds::frozen(relations));
  check(file.triples.size() + file.left_out == triples, "each triple is read or left out");
  if (file.unknown_entities.count > 0) static_cast<void>(file.unknown_entities.error("entity"));
  if (file.unknown_relations.count > 0) static_cast<void>(file.unknown_relations.error("relation"));
}

void read_numbers(const io::Input& input) {
  try {
    for (const io::Triple& triple : io::read_id_triples(input, 1000, 10))
      check(triple.subject <= 1000 && triple.relation <= 10 && triple.object <= 1000, "ids have limits");
  } catch (const FileError&) {
    // Refused.
  }
}

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lapse::test;
  static const FuzzFile file;
  FuzzInput input(data, size);
  const std::uint32_t parts = 1 + input.byte() % 4;
  const std::string bytes = input.rest();
  const auto whole = read_names(source_input(bytes));
  read_numbers(source_input(bytes));
  if (!whole) return 0;
  read_known_names(source_input(bytes), *whole);
  const std::string path = file.write(bytes);
  std::size_t triples = 0;
  for (std::uint32_t index = 0; index < parts; ++index) {
    const auto part = read_names(path, {index, parts});
    check(part.has_value(), "a part of a file that can be read can be read");
    triples += *part;
  }
  check(triples == *whole, "the parts of a file have its triples");
  return 0;
}
