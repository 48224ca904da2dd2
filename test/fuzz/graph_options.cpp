// The command line of the knowledge graph embeddings, and files of options.
#include "apps/knowledge_graph_embeddings/options.hpp"
#include "test/fuzz/fuzz_command_line.hpp"
#include "test/fuzz/fuzz_file.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lapse::test;
  static const FuzzFile file;
  FuzzInput input(data, size);
  const bool is_file = input.byte() % 2 == 1;
  const std::string text = input.rest();
  if (is_file) {
    parse<lapse::apps::KnowledgeGraphOptions>({"--config", file.write(text)});
  } else {
    parse_lines<lapse::apps::KnowledgeGraphOptions>(text);
  }
  return 0;
}
