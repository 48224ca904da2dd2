// The program in docs/data-files.md, with the bundled data on three ranks.
#include <data_files_example.hpp>
#include <string>
#include <vector>

#include "test/support/catch.hpp"

using lapse::io::Vocabulary;

namespace {

using ByteLists = std::vector<std::vector<std::byte>>;

// Simulates the ranks one after the other: the first round collects what each rank contributes to its two
// exchanges, the second round returns all contributions.
std::vector<example::Graph> read_on_all(std::uint32_t ranks, const std::string& train,
                                        const std::string& test) {
  std::vector<ByteLists> given(2);
  std::vector<example::Graph> graphs;
  for (const bool answers : {false, true}) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::size_t exchange = 0;
      const auto all_gather = [&](const std::vector<std::byte>& own) -> ByteLists {
        ByteLists& all = given[exchange++];
        if (answers) return all;
        all.push_back(own);
        return {own};
      };
      example::Graph graph = example::read_graph(train, test, {rank, ranks}, all_gather);
      if (answers) graphs.push_back(std::move(graph));
    }
  }
  return graphs;
}

}  // namespace

TEST_CASE("the example of the documentation gives all ranks one numbering and each its triples") {
  const std::string folder = std::string(LAPSE_DATA_FOLDER) + "/wn18rr/";
  const auto graphs = read_on_all(3, folder + "train.txt.xz", folder + "test.txt.xz");
  std::size_t train = 0;
  std::size_t test = 0;
  for (const example::Graph& graph : graphs) {
    train += graph.train.size();
    test += graph.test.size();
    CHECK(graph.train.size() > 86835 / 3 - 64);
    CHECK(graph.relations.size() == 11);
    CHECK(graph.relations.name(0) == "_hypernym");
    CHECK(graph.entities.to_bytes() == graphs[0].entities.to_bytes());
  }
  CHECK(train == 86835);
  CHECK(test == 3134);
  // 209 entities of the test data never occur in training: they get the last numbers.
  const Vocabulary& entities = graphs[0].entities;
  REQUIRE(entities.size() == 40559 + 209);
  CHECK(entities.count(40558) > 0);
  CHECK(entities.count(40559) == 0);
}
