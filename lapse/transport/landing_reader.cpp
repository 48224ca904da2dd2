#include "lapse/transport/landing_reader.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"

namespace lapse {

std::uint64_t LandingReader::arrived(std::uint64_t begin, std::uint64_t bytes) {
  if (handling()) throw ProtocolError("a payload landed before the one before it was handled");
  if (bytes == 0 || bytes > landing_ring::largest_payload(capacity_)) {
    throw ProtocolError(fmt::format("a payload of {} bytes landed, expected 1 to {}", bytes,
                                    landing_ring::largest_payload(capacity_)));
  }
  const LandingPlace place = landing_ring::place(capacity_, arrived_, bytes);
  if (place.begin != begin) {
    throw ProtocolError(
        fmt::format("a payload of {} bytes landed at byte {}, expected {}", bytes, begin, place.begin));
  }
  arrived_ = place.end;
  return begin % capacity_;
}

void LandingReader::consumed() {
  if (!handling()) throw ProtocolError("a payload was consumed that has not landed");
  consumed_ = arrived_;
}

}  // namespace lapse
