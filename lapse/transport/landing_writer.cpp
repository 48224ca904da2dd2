#include "lapse/transport/landing_writer.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"

namespace lapse {

std::optional<LandingPlace> LandingWriter::reserve(std::uint64_t bytes) {
  if (bytes == 0 || bytes > landing_ring::largest_payload(capacity_)) return std::nullopt;
  const LandingPlace place = landing_ring::place(capacity_, reserved_, bytes);
  if (place.end - consumed_ > capacity_) return std::nullopt;
  reserved_ = place.end;
  return place;
}

void LandingWriter::credit(std::uint64_t consumed) {
  if (consumed < consumed_ || consumed > reserved_) {
    throw ProtocolError(fmt::format("a credit up to byte {} of a landing ring, expected {} to {}", consumed,
                                    consumed_, reserved_));
  }
  consumed_ = consumed;
}

}  // namespace lapse
