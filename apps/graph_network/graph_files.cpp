#include "apps/graph_network/graph_files.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <new>
#include <optional>
#include <string_view>

#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/samples/svm_file.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::apps {

namespace {

constexpr std::array<std::string_view, 4> kUses{"none", "train", "valid", "test"};

[[noreturn]] void throw_out_of_memory(const io::LineReader& reader) {
  throw OutOfMemory(fmt::format("{}:{}: out of memory for more lines", reader.path(), reader.line_number()));
}

// The next line that is neither blank nor a comment, without blanks around it.
bool next_entry(io::LineReader& reader, std::string_view& line) {
  do {
    if (!reader.next(line)) return false;
    line = io::trimmed(line);
  } while (line.empty() || line.front() == '#');
  return true;
}

Edge parse_edge(const io::LineReader& reader, std::string_view line, io::Separator separator,
                std::uint64_t nodes) {
  io::Fields fields(line, separator);
  std::array<std::string_view, 2> ends;
  std::size_t found = 0;
  while (found < ends.size() && fields.next(ends[found])) ++found;
  found += fields.count_rest();
  if (found != ends.size()) {
    reader.fail(io::wrong_number_of_fields(line, found, ends.size(), "field", io::separator_name(separator)),
                line);
  }
  if (nodes == 0) reader.fail("an edge of a graph without nodes", line);
  return {static_cast<std::uint32_t>(io::parse_id(reader, ends[0], "node", nodes - 1)),
          static_cast<std::uint32_t>(io::parse_id(reader, ends[1], "node", nodes - 1))};
}

std::int64_t class_of(const io::Input& input, double label, std::uint64_t node) {
  if (label != std::floor(label) || label < NodeFile::kNoClass || label > NodeFile::kMaxClass) {
    throw FileError(input.path(),
                    fmt::format("class {} of node {} (the nodes are counted from 0), expected an integer "
                                "from 0 to {}, or {} for an unknown class",
                                label, node, NodeFile::kMaxClass, NodeFile::kNoClass));
  }
  return static_cast<std::int64_t>(label);
}

}  // namespace

std::vector<Edge> read_edges(const io::Input& input, std::uint64_t nodes) {
  std::vector<Edge> edges;
  io::LineReader reader(input);
  try {
    std::optional<io::Separator> separator;
    for (std::string_view line; next_entry(reader, line);) {
      if (!separator) separator = io::detect_separator(line);
      edges.push_back(parse_edge(reader, line, *separator, nodes));
    }
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(reader);
  }
  return edges;
}

NodeFile read_nodes(const io::Input& input) {
  const io::SvmFile file = io::read_svm_file(input);
  const io::SparseSamples& samples = file.samples;
  NodeFile nodes;
  try {
    nodes.all_features = samples.all_features();
    nodes.classes.reserve(samples.samples());
    nodes.offsets.reserve(samples.samples() + 1);
    nodes.features.reserve(static_cast<std::size_t>(samples.all_entries()));
    nodes.values.reserve(static_cast<std::size_t>(samples.all_entries()));
    nodes.offsets.push_back(0);
    for (std::size_t node = 0; node < samples.samples(); ++node) {
      nodes.classes.push_back(class_of(input, samples.label(node), node));
      for (const io::FeatureValue& entry : samples.features(node)) {
        nodes.features.push_back(entry.feature);
        nodes.values.push_back(entry.value);
      }
      nodes.offsets.push_back(static_cast<std::int64_t>(nodes.features.size()));
    }
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("{}: out of memory for {} features", input.path(), samples.all_entries()));
  }
  return nodes;
}

std::vector<NodeUse> read_node_uses(const io::Input& input, std::uint64_t nodes) {
  std::vector<NodeUse> uses;
  io::LineReader reader(input);
  try {
    for (std::string_view line; next_entry(reader, line);) {
      std::size_t use = 0;
      while (use < kUses.size() && kUses[use] != line) ++use;
      if (use == kUses.size())
        reader.fail(fmt::format("'{}', expected train, valid, test or none", io::shown(line)), line);
      if (uses.size() == nodes) reader.fail(fmt::format("a line after those of all {} nodes", nodes), line);
      uses.push_back(static_cast<NodeUse>(use));
    }
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(reader);
  }
  if (uses.size() != nodes)
    throw FileError(input.path(),
                    fmt::format("has {} lines, expected one for each of {} nodes", uses.size(), nodes));
  return uses;
}

}  // namespace lapse::apps
