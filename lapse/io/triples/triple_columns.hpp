// Whether the columns of a triple file look like subject, relation and object.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/io/triples/triple_file.hpp"

namespace lapse::io {

// Of the first line of a file, split into its fields: a warning where they are names of columns, not of a
// triple; else empty.
std::string header_warning(const NamedTriple& first);

// Of the triples of a graph with so many entities and relations: a warning where nearly as many names are
// relations as are entities; else empty.
LAPSE_EXPORT std::string relation_warning(std::span<const Triple> triples, std::uint64_t entities,
                                          std::uint64_t relations);

}  // namespace lapse::io
