// Checks whether the columns of a triple file look like subject, relation and object.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/io/triples/triple_file.hpp"

namespace lapse::io {

// For the fields of a file's first line: a warning if they are column names rather than a triple; otherwise
// empty.
std::string header_warning(const NamedTriple& first);

// For the triples of a graph with `entities` entities and `relations` relations: a warning if nearly as many
// names are relations as are entities; otherwise empty.
LAPSE_EXPORT std::string relation_warning(std::span<const Triple> triples, std::uint64_t entities,
                                          std::uint64_t relations);

}  // namespace lapse::io
