// The Python module lapse_graph: files, neighbourhoods and partitions of graphs, as NumPy arrays.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/graph_network/graph.hpp"
#include "apps/graph_network/graph_files.hpp"
#include "apps/graph_network/graph_partition.hpp"
#include "apps/graph_network/neighbour_sampler.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"

namespace lapse::apps {

namespace {

namespace py = pybind11;

template <class T>
using Array = py::array_t<T, py::array::c_style>;
using Released = py::call_guard<py::gil_scoped_release>;

// The array takes the elements without a copy.
template <class T>
Array<T> array_of(std::vector<T> elements) {
  auto owned = std::make_unique<std::vector<T>>(std::move(elements));
  const T* const data = owned->data();
  const auto size = static_cast<py::ssize_t>(owned->size());
  const py::capsule keeper(owned.release(),
                           [](void* vector) { delete static_cast<std::vector<T>*>(vector); });
  return Array<T>(size, data, keeper);
}

template <class T>
std::span<const T> span_of(const Array<T>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

template <class F>
auto without_lock(F&& work) {
  const py::gil_scoped_release released;
  return work();
}

py::tuple nodes_of(const std::string& path) {
  NodeFile file = without_lock([&] { return read_nodes(path); });
  return py::make_tuple(array_of(std::move(file.classes)), array_of(std::move(file.offsets)),
                        array_of(std::move(file.features)), array_of(std::move(file.values)),
                        file.all_features);
}

Array<std::uint8_t> uses_of(const std::string& path, std::uint64_t nodes) {
  return array_of(without_lock([&] {
    const std::vector<NodeUse> uses = read_node_uses(path, nodes);
    std::vector<std::uint8_t> numbers(uses.size());
    std::transform(uses.begin(), uses.end(), numbers.begin(),
                   [](NodeUse use) { return static_cast<std::uint8_t>(use); });
    return numbers;
  }));
}

Array<std::uint32_t> edges_of(const std::string& path, std::uint64_t nodes) {
  std::vector<std::uint32_t> ends = without_lock([&] {
    std::vector<std::uint32_t> numbers;
    for (const Edge& edge : read_edges(path, nodes)) numbers.insert(numbers.end(), {edge.from, edge.to});
    return numbers;
  });
  const auto edges = static_cast<py::ssize_t>(ends.size() / 2);
  return array_of(std::move(ends)).reshape({edges, py::ssize_t{2}});
}

std::unique_ptr<Graph> make_graph(std::uint64_t nodes, const Array<std::uint32_t>& ends) {
  if (ends.ndim() != 2 || ends.shape(1) != 2)
    throw UsageError("edges of a graph: expected an array of two columns");
  const std::span<const std::uint32_t> numbers = span_of(ends);
  return without_lock([&] {
    std::vector<Edge> edges(numbers.size() / 2);
    for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = {numbers[2 * i], numbers[2 * i + 1]};
    return std::make_unique<Graph>(nodes, edges);
  });
}

Array<std::int64_t> degrees_of(const Graph& graph) {
  std::vector<std::int64_t> degrees(static_cast<std::size_t>(graph.nodes()));
  for (std::size_t node = 0; node < degrees.size(); ++node)
    degrees[node] = static_cast<std::int64_t>(graph.degree(static_cast<std::uint32_t>(node)));
  return array_of(std::move(degrees));
}

Array<std::uint32_t> neighbours_of(const Graph& graph, std::uint32_t node) {
  if (node >= graph.nodes())
    throw UsageError("neighbours of node " + std::to_string(node) + ", which does not exist");
  const auto neighbours = graph.neighbours(node);
  return array_of(std::vector<std::uint32_t>(neighbours.begin(), neighbours.end()));
}

py::tuple sample(NeighbourSampler& sampler, const Array<std::int64_t>& seeds,
                 const std::vector<std::optional<std::uint32_t>>& limits, std::uint64_t seed) {
  const std::span<const std::int64_t> nodes = span_of(seeds);
  SampledNeighbourhood found = without_lock([&] { return sampler.sample(nodes, limits, seed); });
  py::list layers;
  for (SampledLayer& layer : found.layers) {
    layers.append(py::make_tuple(layer.outputs, array_of(std::move(layer.offsets)),
                                 array_of(std::move(layer.sources))));
  }
  return py::make_tuple(array_of(std::move(found.nodes)), layers);
}

// The class of Python, of the module in which it is.
py::object class_of(const Error& error) {
  if (dynamic_cast<const FileError*>(&error) != nullptr)
    return py::module_::import("lapse_graph").attr("FileError");
  const py::module_ errors = py::module_::import("lapse.errors");
  if (dynamic_cast<const UsageError*>(&error) != nullptr) return errors.attr("UsageError");
  if (dynamic_cast<const ConfigurationError*>(&error) != nullptr) return errors.attr("ConfigurationError");
  if (dynamic_cast<const OutOfMemory*>(&error) != nullptr) return errors.attr("OutOfMemory");
  return errors.attr("Error");
}

void declare_errors(py::module_& module) {
  const py::object base = py::module_::import("lapse.errors").attr("Error");
  module.attr("FileError") = py::reinterpret_steal<py::object>(PyErr_NewExceptionWithDoc(
      "lapse_graph.FileError", "A file that cannot be used. The text begins with file, line and column.",
      base.ptr(), nullptr));
  // NOLINTNEXTLINE(performance-unnecessary-value-param): pybind11 passes it by value.
  py::register_local_exception_translator([](std::exception_ptr failure) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const Error& error) {
      PyErr_SetString(class_of(error).ptr(), error.what());
    }
  });
}

}  // namespace

}  // namespace lapse::apps

PYBIND11_MODULE(lapse_graph, module) {
  using namespace lapse::apps;
  module.doc() =
      "Files, neighbourhoods and partitions of graphs. Exceptions are FileError and those of lapse.errors.";
  declare_errors(module);
  module.def(
      "read_nodes", &nodes_of, py::arg("path"),
      "Reads nodes in the format of LibSVM.\n\nReturns their classes (-1: unknown), and their features in "
      "compressed rows: offsets, features from 0, values; and the number of all features.");
  module.def("read_node_uses", &uses_of, py::arg("path"), py::arg("nodes"),
             "Reads a word for each node. Returns 0 for none, 1 for train, 2 for valid, 3 for test.");
  module.def("read_edges", &edges_of, py::arg("path"), py::arg("nodes"),
             "Reads edges of a graph with this many nodes. Returns a row for each edge: its two nodes.");
  py::class_<Graph>(module, "Graph",
                    "An undirected graph. Self loops and repeated edges are left out and counted.")
      .def(py::init(&make_graph), py::arg("nodes"), py::arg("edges"),
           "edges: a row for each edge, its two nodes.")
      .def_property_readonly("nodes", &Graph::nodes)
      .def_property_readonly("edges", &Graph::edges)
      .def_property_readonly("self_loops", &Graph::self_loops)
      .def_property_readonly("duplicates", &Graph::duplicates)
      .def_property_readonly("isolated_nodes", &Graph::isolated_nodes)
      .def("degrees", &degrees_of, "The number of neighbours of each node.")
      .def("neighbours", &neighbours_of, py::arg("node"));
  py::class_<NeighbourSampler>(module, "NeighbourSampler", "Samples neighbours. Used by one thread.")
      .def(py::init<const Graph&>(), py::arg("graph"), py::keep_alive<1, 2>())
      .def("sample", &sample, py::arg("nodes"), py::arg("limits"), py::arg("seed"),
           "Samples at most so many neighbours of each node in each layer, from the input on; None: "
           "all.\n\nReturns the "
           "nodes of the neighbourhood, those of the batch first, and for each layer: the number of its "
           "outputs, which "
           "are the first of these nodes; offsets, with the end; and the positions of the sampled "
           "neighbours.");
  module.def(
      "range_partition",
      [](std::uint64_t nodes, std::uint32_t parts) { return array_of(range_partition(nodes, parts)); },
      py::arg("nodes"), py::arg("parts"), "The part of each node: consecutive nodes.");
  module.def(
      "random_partition",
      [](std::uint64_t nodes, std::uint32_t parts, std::uint64_t seed) {
        return array_of(random_partition(nodes, parts, seed));
      },
      py::arg("nodes"), py::arg("parts"), py::arg("seed"), "The part of each node, at random.");
  module.def(
      "metis_partition",
      [](const Graph& graph, std::uint32_t parts, std::uint64_t seed, const Array<std::uint8_t>& trained) {
        const std::span<const std::uint8_t> marks = span_of(trained);
        return array_of(without_lock([&] { return metis_partition(graph, parts, seed, marks); }));
      },
      py::arg("graph"), py::arg("parts"), py::arg("seed"), py::arg("trained"),
      "The part of each node, with few edges between parts; trained: 1 for each node that is trained, else "
      "0.");
  module.def(
      "cut_edges",
      [](const Graph& graph, const Array<std::uint32_t>& part_of) {
        return cut_edges(graph, span_of(part_of));
      },
      py::arg("graph"), py::arg("part_of"), "The number of edges that connect two parts.");
  module.def("has_metis", &has_metis);
}
