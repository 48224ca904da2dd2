// Tables and samplers of the Python package.
#include <pybind11/stl.h>

#include <map>

#include "adapm/distribution.hpp"
#include "lapse/python/callbacks.hpp"
#include "lapse/python/handles.hpp"
#include "lapse/python/key_functions.hpp"

namespace lapse::python {

namespace {

using namespace pybind11::literals;

// --- tables

using Parameters = std::map<std::string, double>;

double take(Parameters& parameters, const char* name, double otherwise) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return otherwise;
  const double value = found->second;
  parameters.erase(found);
  return value;
}

template <class R>
R adagrad_of(Parameters& given) {
  const R base;
  return {.learning_rate = take(given, "learning_rate", base.learning_rate),
          .l2 = take(given, "l2", base.l2),
          .initial_accumulator = take(given, "initial_accumulator", base.initial_accumulator),
          .epsilon = take(given, "epsilon", base.epsilon)};
}

UpdateRule rule_of(const std::string& name, Parameters given) {
  UpdateRule rule = UpdateRule::add();
  if (name == "assign") {
    rule = UpdateRule::assign();
  } else if (name == "sgd") {
    rule = UpdateRule::sgd({.learning_rate = take(given, "learning_rate", Sgd().learning_rate),
                            .l2 = take(given, "l2", Sgd().l2)});
  } else if (name == "adagrad") {
    rule = UpdateRule::adagrad(adagrad_of<Adagrad>(given));
  } else if (name == "rowwise_adagrad") {
    rule = UpdateRule::rowwise_adagrad(adagrad_of<RowwiseAdagrad>(given));
  } else if (name == "adam") {
    rule = UpdateRule::adam({.learning_rate = take(given, "learning_rate", Adam().learning_rate),
                             .beta1 = take(given, "beta1", Adam().beta1),
                             .beta2 = take(given, "beta2", Adam().beta2),
                             .epsilon = take(given, "epsilon", Adam().epsilon),
                             .l2 = take(given, "l2", Adam().l2)});
  } else if (name == "ftrl") {
    rule = UpdateRule::ftrl({.alpha = take(given, "alpha", Ftrl().alpha),
                             .beta = take(given, "beta", Ftrl().beta),
                             .l1 = take(given, "l1", Ftrl().l1),
                             .l2 = take(given, "l2", Ftrl().l2)});
  } else if (name != "add") {
    throw ConfigurationError("the rule '" + name +
                             "': expected add, assign, sgd, adagrad, rowwise_adagrad, adam or ftrl");
  }
  if (!given.empty())
    throw ConfigurationError("the rule '" + name + "' has no parameter '" + given.begin()->first +
                             "', nor has create_table such an argument");
  return rule;
}

Initialiser initialiser_of(const std::string& kind, double first, double second) {
  if (kind == "constant") return Initialiser::constant(first);
  if (kind == "uniform") return Initialiser::uniform(first, second);
  if (kind == "normal") return Initialiser::normal(first, second);
  throw ConfigurationError("initial values '" + kind + "': expected constant, uniform or normal");
}

// Calls f(options, element) with the options from lapse/specification.py, and an element of the type.
template <class F>
auto with_options(const py::dtype& type, const py::dict& given, F&& f) {
  TableOptions options;
  options.name = given["name"].cast<std::string>();
  options.keys = given["keys"].cast<std::uint64_t>();
  options.sparse = given["sparse"].cast<bool>();
  options.length = given["length"].cast<std::size_t>();
  if (const py::object lengths = given["lengths"]; !lengths.is_none())
    options.lengths = lengths_by_key(lengths);
  options.max_keys = given["max_keys"].cast<std::optional<std::uint64_t>>();
  options.memory_limit_bytes = given["memory_limit_bytes"].cast<std::optional<std::uint64_t>>();
  const py::object initial = given["initial"];
  const bool computed = PyCallable_Check(initial.ptr()) != 0;
  if (!computed) {
    const auto [kind, first, second] = initial.cast<std::tuple<std::string, double, double>>();
    options.initialiser = initialiser_of(kind, first, second);
  }
  options.seed = given["seed"].cast<std::uint64_t>();
  const py::object home = given["home"];
  if (!py::isinstance<py::str>(home)) {
    options.home = HomeMapKind::custom;
    options.home_function = homes_by_key(home, options.keys);
  } else if (home.cast<std::string>() == "range") {
    options.home = HomeMapKind::range;
  }
  const ElementType element = element_of(type);
  const py::object rule = given["rule"];
  options.update_rule = py::isinstance<py::str>(rule)
                            ? rule_of(rule.cast<std::string>(), given["parameters"].cast<Parameters>())
                            : custom_rule(rule, element);
  options.location_caches = given["location_caches"].cast<std::optional<bool>>();
  if (const auto consistency = given["consistency"].cast<std::optional<std::string>>())
    options.consistency = Consistency::parse(*consistency);
  for (const NotFinite choice : {NotFinite::count, NotFinite::refuse})
    if (given["not_finite"].cast<std::string>() == not_finite_name(choice)) options.not_finite = choice;
  options.max_push_norm = given["max_push_norm"].cast<std::optional<double>>();
  return visit_element(element, [&](auto of_type) {
    if (computed) options.initialiser = initialiser_by<decltype(of_type)>(initial);
    return f(options, of_type);
  });
}

std::unique_ptr<TableHandleOf> create_table(const SharedServer& server, const py::dtype& type,
                                            const py::dict& given) {
  return with_options(type, given, [&](const TableOptions& options, auto element) {
    using T = decltype(element);
    const py::gil_scoped_release released;
    return std::make_unique<TableHandleOf>(
        TableHandleOf{server, server->manager ? server->manager->create_table<T>(options)
                                              : server->own->create_table<T>(options)});
  });
}

py::tuple estimate_memory(const SharedServer& server, const py::dtype& type, const py::dict& given) {
  return with_options(type, given, [&](const TableOptions& options, auto element) {
    using T = decltype(element);
    return memory_tuple(unlocked([&] {
      return server->manager ? server->manager->estimate_memory<T>(options)
                             : server->own->estimate_memory<T>(options);
    }));
  });
}

py::array_t<std::int64_t> lengths_of(const TableHandleOf& table, const py::object& keys) {
  const HeldArray held = keys_of(keys);
  py::array_t<std::int64_t> lengths(static_cast<py::ssize_t>(held.size()));
  table.visit([&](const auto& typed) {
    std::int64_t* to = lengths.mutable_data();
    for (const Key key : key_span(held)) {
      if (!typed.handle().has(key))
        throw KeyOutOfRange(typed.name(), key, typed.keys(), table.server->server().rank());
      *to++ = static_cast<std::int64_t>(typed.length(key));
    }
  });
  return lengths;
}

// "<lapse.Table 'factors' of 1000 keys with 4 float32>"
std::string text_of_table(const TableHandleOf& table) {
  return table.visit([](const auto& typed) {
    using T = ElementOf<decltype(typed)>;
    const std::string keys = typed.is_sparse() ? "any keys" : std::to_string(typed.keys()) + " keys";
    const std::string length = typed.length() == 0 ? "lengths by key of" : std::to_string(typed.length());
    return "<lapse.Table '" + std::string(typed.name()) + "' of " + keys + " with " + length + " " +
           element_name<T>() + ">";
  });
}

void set_frequencies(const SharedServer& server, const TableHandleOf& table, const py::object& counts) {
  if (!server->manager) throw UsageError("frequencies of keys of a server: use lapse.Manager");
  const HeldArray held = keys_of(counts);  // whole numbers, like keys
  const std::span<const std::uint64_t> span(reinterpret_cast<const std::uint64_t*>(held.data()), held.size());
  const py::gil_scoped_release released;
  table.visit([&](const auto& typed) { server->manager->set_frequencies(typed, span); });
}

std::unique_ptr<SamplerHandle> create_sampler(
    const SharedServer& server, const TableHandleOf& table, std::uint64_t first, std::uint64_t count,
    const std::string& distribution, const std::vector<double>& weights, const std::string& scheme,
    bool replacement, std::optional<bool> postpone, std::optional<std::uint32_t> pool_keys,
    std::optional<std::uint32_t> pool_uses, std::optional<std::uint64_t> seed) {
  if (!server->manager) throw UsageError("a sampler of a server: use lapse.Manager");
  adapm::SamplingOptions options{.with_replacement = replacement,
                                 .postpone = postpone,
                                 .pool_keys = pool_keys,
                                 .pool_uses = pool_uses,
                                 .seed = seed};
  for (const adapm::SamplingScheme known : adapm::kSamplingSchemes)
    if (to_string(known) == scheme) options.scheme = known;
  if (!scheme.empty() && !options.scheme)
    throw ConfigurationError("the scheme '" + scheme + "': expected naive, prelocalised, pool or local");
  const adapm::KeyRange range{.first = Key(first), .end = Key(first + count)};
  const py::gil_scoped_release released;
  const auto drawn = distribution == "uniform"       ? adapm::Distribution::uniform(range)
                     : distribution == "log_uniform" ? adapm::Distribution::log_uniform(range)
                                                     : adapm::Distribution::weighted(weights, Key(first));
  return table.visit([&](const auto& typed) {
    return std::make_unique<SamplerHandle>(
        SamplerHandle{server, server->manager->create_sampler(typed, drawn, options)});
  });
}

}  // namespace

void declare_table(py::module_& module) {
  const auto of = [](auto ask) { return [ask](const TableHandleOf& table) { return table.visit(ask); }; };
  const py::class_<SamplerHandle> sampler(module, "Sampler",
                                          "Draws keys of a table for the workers of all ranks.");
  py::class_<TableHandleOf>(module, "Table", "A table of a server.")
      .def("__repr__", &text_of_table)
      .def_property_readonly("name", of([](const auto& typed) { return typed.name(); }),
                             "Its name, unique in the server.")
      .def_property_readonly("keys", of([](const auto& typed) { return typed.keys(); }),
                             "The number of keys of a dense table; 0: it is sparse.")
      .def_property_readonly("length", of([](const auto& typed) { return typed.length(); }),
                             "The number of elements of each value; 0: each key has its own length.")
      .def("lengths", &lengths_of, "keys"_a, "The number of elements of each key's value.")
      .def_property_readonly("sparse", of([](const auto& typed) { return typed.is_sparse(); }),
                             "Whether any key is allowed.")
      .def_property_readonly("dtype", of([](const auto& typed) -> py::object {
                               return py::dtype::of<ElementOf<decltype(typed)>>();
                             }),
                             "The NumPy type of the elements.");
  module.def("create_table", &create_table, "server"_a, "dtype"_a, "specification"_a);
  module.def("estimate_memory", &estimate_memory, "server"_a, "dtype"_a, "specification"_a);
  module.def("set_frequencies", &set_frequencies, "server"_a, "table"_a, "counts"_a);
  module.def("create_sampler", &create_sampler, "server"_a, "table"_a, "first"_a, "count"_a, "distribution"_a,
             "weights"_a, "scheme"_a, "replacement"_a, "postpone"_a, "pool_keys"_a, "pool_uses"_a, "seed"_a);
}

}  // namespace lapse::python
