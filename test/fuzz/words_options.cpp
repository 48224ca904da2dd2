// The command line of the word vectors.
#include "apps/word_vectors/options.hpp"
#include "test/fuzz/fuzz_command_line.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lapse::test;
  parse_lines<lapse::apps::WordVectorsOptions>(FuzzInput(data, size).rest());
  return 0;
}
