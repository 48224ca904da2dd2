// Reading and generating graphs.
#include <sstream>
#include <string>

#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"
#include "apps/knowledge_graph_embeddings/report.hpp"
#include "lapse/core/file_error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse;
using namespace lapse::apps;
using lapse::test::TemporaryDirectory;

TEST_CASE("a graph has the entities of all files, and records which entities training triples have") {
  const TemporaryDirectory directory;
  DataOptions options;
  options.train_file = directory.write("train", "ann\tlikes\tbob\nbob\tlikes\tann\nann\tknows\tann\n");
  options.valid_file = directory.write("valid", "ann\tknows\tcid\n");
  options.test_file = directory.write("test", "bob\tknows\tann\ndan\tlikes\tcid\ndan\tlikes\tann\n");
  const KnowledgeGraph graph = load_graph(options);
  CHECK(graph.entities == 4);
  CHECK(graph.relations == 2);
  CHECK(graph.train == std::vector<Triple>{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}});
  CHECK(graph.valid == std::vector<Triple>{{0, 1, 2}});
  CHECK(graph.test == std::vector<Triple>{{1, 1, 0}, {3, 0, 2}, {3, 0, 0}});
  CHECK(graph.relation_counts == std::vector<std::uint32_t>{2, 1});
  CHECK(graph.entity_seen == std::vector<bool>{true, true, false, false});
  CHECK(graph.unseen(graph.valid) == 1);
  CHECK(graph.unseen(graph.test) == 2);
  CHECK(graph.entity_names.name(3) == "dan");
  CHECK(graph.entity_names.count(0) == 4);
  CHECK(graph.entity_names.count(3) == 0);
  CHECK(graph.relation_names.name(1) == "knows");
}

TEST_CASE("a held-out relation without training triples is an error with its place") {
  const TemporaryDirectory directory;
  DataOptions options;
  options.train_file = directory.write("train", "ann\tlikes\tbob\n");
  auto& held_out = GENERATE(true, false) ? options.valid_file : options.test_file;
  held_out = directory.write("held-out", "bob\tlikes\tann\nbob\thates\tann\n");
  CHECK_THROWS_AS(load_graph(options), FileError);
  CHECK_THROWS_WITH(load_graph(options), Catch::Matchers::Contains("held-out:2:5:") &&
                                             Catch::Matchers::Contains("relation") &&
                                             Catch::Matchers::Contains("'hates'"));
}

TEST_CASE("files without triples, or none, are errors") {
  const TemporaryDirectory directory;
  DataOptions options;
  options.train_file = directory.write("train", "\n");
  CHECK_THROWS_WITH(load_graph(options), Catch::Matchers::Contains("contains no triples"));
  options.train_file = directory / "missing";
  CHECK_THROWS_AS(load_graph(options), FileError);
  options.train_file = directory.write("train", "a\tb\tc\na\tb\n");
  CHECK_THROWS_WITH(load_graph(options), Catch::Matchers::Contains("train:2:"));
  options.train_file = directory.write("train", "a\tb\tc\n");
  auto& held_out = GENERATE(true, false) ? options.valid_file : options.test_file;
  held_out = directory.write("held-out", "\n");
  CHECK_THROWS_WITH(load_graph(options), Catch::Matchers::Contains("held-out: contains no triples"));
}

TEST_CASE("a random graph is refused before it takes more memory than there is") {
  DataOptions options;
  options.random.triples = 1'000'000'000'000'000;
  CHECK_THROWS_AS(load_graph(options), lapse::OutOfMemory);
}

TEST_CASE("a graph cannot be made of nothing, nor of numbers out of range") {
  CHECK_THROWS_AS(make_graph(2, 1, {}), UsageError);
  CHECK_THROWS_AS(make_graph(2, 1, {{0, 0, 2}}), UsageError);
  CHECK_THROWS_AS(make_graph(2, 1, {{0, 1, 1}}), UsageError);
  CHECK_THROWS_AS(make_graph(2, 1, {{0, 0, 1}}, {{2, 0, 0}}), UsageError);
  CHECK_THROWS_AS(make_graph(2, 1, {{0, 0, 1}}, {}, {{2, 0, 0}}), UsageError);
  CHECK_NOTHROW(make_graph(2, 1, {{0, 0, 1}}, {{1, 0, 0}}, {{1, 0, 1}}));
}

TEST_CASE("a random graph is a function of its options") {
  DataOptions options;
  options.random = {.entities = 50, .relations = 4, .triples = 4000};
  const KnowledgeGraph graph = load_graph(options);
  CHECK(graph.entities == 50);
  CHECK(graph.relations == 4);
  REQUIRE(graph.train.size() == 4000);
  for (const std::uint32_t count : graph.relation_counts) {
    CHECK(count > 850);
    CHECK(count < 1150);
  }
  CHECK(load_graph(options).train == graph.train);
  options.seed = 2;
  CHECK(load_graph(options).train != graph.train);
  options.random.entities = 0;
  CHECK_THROWS_AS(load_graph(options), UsageError);
}

TEST_CASE("what the user of triple files should know is reported") {
  const TemporaryDirectory directory;
  std::vector<std::string> messages;
  lapse::io::ReaderGroup group;
  group.report_warning = [&](const std::string& message) { messages.push_back(message); };
  DataOptions options;
  // Subject, object, relation.
  std::ostringstream train;
  for (int i = 0; i < 40; ++i) train << 'e' << i % 20 << "\te" << i * 7 % 20 << "\tr" << i % 3 << '\n';
  options.train_file = directory.write("train", train.str());
  options.test_file = directory.write("test", "e1\te7\tr1\n");
  load_graph(options, group);
  REQUIRE(messages.size() == 2);
  CHECK_THAT(messages[0],
             Catch::Matchers::Contains("train: the second column, read as the relation, has 20 names"));
  CHECK_THAT(messages[1], Catch::Matchers::Contains("test: 1 of 1 triples are training triples, too"));
  messages.clear();
  options.train_file = directory.write("train", "head\trelation\ttail\na\tr\tb\nb\tr\tc\n");
  options.test_file = directory.write("test", "a\tr\tc\n");
  load_graph(options, group);
  REQUIRE(messages.size() == 1);
  CHECK_THAT(messages[0], Catch::Matchers::Contains("looks like the names of columns"));
}

TEST_CASE("graphs are read from tables, and what was understood is described") {
  const lapse::test::TemporaryDirectory directory;
  DataOptions options;
  options.train_file = directory.write("train", "from,type,to\na,r,b\nb,r,c\na,r,b\n");
  options.test_file = directory.write("test", "from,type,to\nc,r,d\n");
  options.format.columns = {"from", "type", "to"};
  const KnowledgeGraph graph = load_graph(options);
  CHECK(graph.entities == 4);
  CHECK(graph.relations == 1);
  const std::string text = describe_data(graph);
  CHECK_THAT(text,
             Catch::Matchers::Contains("train: separated by commas; subject: column 1, relation: column 2, "
                                       "object: column 3; 3 columns, the first line names them; 3 triples"));
  CHECK_THAT(text, Catch::Matchers::Contains("1 triples to train on occur before"));
  CHECK_THAT(text, Catch::Matchers::Contains("subject 'a', relation 'r', object 'b'"));
}
