// Vocabularies as text files, and as messages between ranks.
#include <string>

#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/vocabulary/vocabulary_file.hpp"
#include "lapse/io/vocabulary/vocabulary_merge.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_file.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace lapse::test {
namespace {

void check_equal(const io::Vocabulary& a, const io::Vocabulary& b) {
  check(a.to_bytes() == b.to_bytes(), "a vocabulary survives");
}

void read_file(const std::string& bytes) {
  static const FuzzFile file;
  try {
    const io::Vocabulary vocabulary = io::read_vocabulary(source_input(bytes));
    io::Vocabulary copy;
    copy.add_bytes(vocabulary.to_bytes());
    check_equal(vocabulary, copy);
    check(vocabulary.sorted().size() == vocabulary.size(), "sorting loses no name");
    io::write_vocabulary(file.path(), vocabulary);
    check_equal(vocabulary, io::read_vocabulary(file.path()));
  } catch (const FileError&) {
    // Refused.
  } catch (const UsageError&) {
    // A name that a source may have but a file may not.
  }
}

void read_message(const std::string& bytes) {
  io::Vocabulary local;
  local.add("name");
  try {
    const io::Vocabulary all = io::merge_vocabularies(local, [&](std::vector<std::byte> own) {
      const auto other = std::as_bytes(std::span(bytes));
      return std::vector<std::vector<std::byte>>{std::move(own), {other.begin(), other.end()}};
    });
    check(all.find("name").has_value(), "a rank's own names are among those of all");
  } catch (const ProtocolError&) {
    // Refused.
  }
}

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lapse::test::FuzzInput input(data, size);
  const bool is_message = input.byte() % 2 == 1;
  is_message ? lapse::test::read_message(input.rest()) : lapse::test::read_file(input.rest());
  return 0;
}
