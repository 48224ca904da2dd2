// Files of edges, nodes and their uses: formats, errors with their place, and the bundled Cora.
#include "apps/graph_network/graph_files.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using Catch::Matchers::Contains;
using namespace lapse::apps;
using lapse::test::TemporaryDirectory;

namespace {

const std::string kCora = std::string(LAPSE_DATA_FOLDER) + "/cora/";

}  // namespace

TEST_CASE("edges are separated by blanks, tabs or commas") {
  const TemporaryDirectory directory;
  const auto read = [&](const std::string& text) { return read_edges(directory.write("edges", text), 5); };
  const std::vector<Edge> expected{{0, 4}, {4, 0}, {3, 3}};
  CHECK(read("0 4\n4  0\n\n3 3") == expected);
  CHECK(read("# from\tto\n0\t4\r\n4\t0\n3\t3\n") == expected);
  CHECK(read("0,4\n4, 0\n3,3\n# end") == expected);
  CHECK(read("").empty());
}

TEST_CASE("damaged edges are refused with line and column") {
  const TemporaryDirectory directory;
  const auto check = [&](const std::string& text, const std::string& words, std::uint64_t nodes = 5) {
    const std::string path = directory.write("edges", text);
    CHECK_THROWS_AS(read_edges(path, nodes), lapse::FileError);
    CHECK_THROWS_WITH(read_edges(path, nodes), Contains(words));
  };
  check("0 1\n2 5\n", "edges:2:3: node id '5' out of range, expected at most 4");
  check("0 1\n-1 2\n", "edges:2:1: ");
  check("0 1\n1.5 2\n", "edges:2:1: ");
  check("id_1,id_2\n0,1\n", "edges:1:1: ");
  check("0 1\n2\n", "edges:2:1: 1 field, expected 2");
  check("0 1 0.5\n", "edges:1:1: 3 fields, expected 2");
  check("0 18446744073709551616\n", "edges:1:3: ");
  check("0 0\n", "edges:1:1: an edge of a graph without nodes", 0);
  CHECK_THROWS_AS(read_edges(directory / "missing", 5), lapse::FileError);
}

TEST_CASE("nodes have a class and features") {
  const TemporaryDirectory directory;
  const NodeFile nodes = read_nodes(directory.write("nodes", "2 1:0.5 7:-1\n-1 3:2\n0\n"));
  CHECK(nodes.classes == std::vector<std::int64_t>{2, NodeFile::kNoClass, 0});
  CHECK(nodes.offsets == std::vector<std::int64_t>{0, 2, 3, 3});
  CHECK(nodes.features == std::vector<std::int64_t>{0, 6, 2});
  CHECK(nodes.values == std::vector<float>{0.5F, -1, 2});
  CHECK(nodes.all_features == 7);
}

TEST_CASE("damaged nodes are refused") {
  const TemporaryDirectory directory;
  const auto check = [&](const std::string& text, const std::string& words) {
    const std::string path = directory.write("nodes", text);
    CHECK_THROWS_AS(read_nodes(path), lapse::FileError);
    CHECK_THROWS_WITH(read_nodes(path), Contains(words));
  };
  check("0 1:1\n1 1:nan\n", "nodes:2:5: value 'nan', expected a finite number");
  check("0 1:1\n1 1:inf\n", "nodes:2:5: value 'inf', expected a finite number");
  check("0\n1.5 1:1\n", "class 1.5 of node 1");
  check("-2 1:1\n", "class -2 of node 0");
  check("65536 1:1\n", "expected an integer from 0 to 65535, or -1 for an unknown class");
  check("nan 1:1\n", "nodes:1:1: label 'nan'");
  check("", "has no samples");
}

TEST_CASE("each node has a use") {
  const TemporaryDirectory directory;
  const auto read = [&](const std::string& text, std::uint64_t nodes) {
    return read_node_uses(directory.write("split", text), nodes);
  };
  CHECK(read("train\n valid \ntest\nnone\n", 4) ==
        std::vector<NodeUse>{NodeUse::train, NodeUse::valid, NodeUse::test, NodeUse::none});
  CHECK_THROWS_WITH(read("train\nvalidation\n", 2),
                    Contains("split:2:1: 'validation', expected train, valid, test or none"));
  CHECK_THROWS_WITH(read("train\ntest\ntest\n", 2), Contains("split:3:1: a line after those of all 2 nodes"));
  CHECK_THROWS_WITH(read("train\n", 2), Contains("has 1 lines, expected one for each of 2 nodes"));
  CHECK_THROWS_AS(read("train\n", 2), lapse::FileError);
}

TEST_CASE("the bundled Cora is whole") {
  const NodeFile nodes = read_nodes(kCora + "nodes.svm.xz");
  CHECK(nodes.classes.size() == 2708);
  CHECK(nodes.all_features == 1433);
  CHECK(std::ranges::max(nodes.classes) == 6);
  const auto uses = read_node_uses(kCora + "split.txt.xz", nodes.classes.size());
  CHECK(std::ranges::count(uses, NodeUse::train) == 140);
  CHECK(std::ranges::count(uses, NodeUse::test) == 1000);
  const Graph graph(nodes.classes.size(), read_edges(kCora + "edges.txt.xz", nodes.classes.size()));
  CHECK(graph.edges() == 5278);
  CHECK(graph.self_loops() == 0);
  CHECK(graph.duplicates() == 0);
  CHECK(graph.isolated_nodes() == 0);
  CHECK(graph.max_degree() == 168);
}
