// Values as bytes that other ranks can read, for messages of the control plane.
#pragma once

#include <fmt/format.h>

#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <sstream>
#include <string>

#include "lapse/core/error.hpp"
#include "lapse/ps/agreement/bounded_archive.hpp"

namespace lapse {

// Value has `serialize`, as Boost.Serialization requires.
template <class Value>
std::string to_archive(const Value& value) {
  std::ostringstream out;
  boost::archive::binary_oarchive archive(out, boost::archive::no_header);
  archive << value;
  return out.str();
}

// Throws ProtocolError if to_archive has not written exactly these bytes. Allocates at most as many elements
// as there are bytes, whatever lengths they claim.
template <class Value>
Value from_archive(const std::string& bytes) {
  try {
    BoundedArchive archive(bytes);
    Value value;
    archive >> value;
    if (archive.remaining() == 0) return value;
  } catch (const boost::archive::archive_exception&) {
    // Damaged; throws below.
  }
  throw ProtocolError(fmt::format("an archive of {} bytes is damaged", bytes.size()));
}

}  // namespace lapse
