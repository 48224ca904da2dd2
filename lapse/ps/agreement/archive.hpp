// Values as bytes that other ranks can read: for messages of the control plane.
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

// The type has `serialize`, as Boost.Serialization wants it.
template <class Value>
std::string to_archive(const Value& value) {
  std::ostringstream out;
  boost::archive::binary_oarchive archive(out, boost::archive::no_header);
  archive << value;
  return out.str();
}

// Throws ProtocolError when the bytes are fewer or more than to_archive writes, or none that it writes.
// Memory is taken for as many elements as there are bytes, at most, whatever lengths they claim.
template <class Value>
Value from_archive(const std::string& bytes) {
  try {
    BoundedArchive archive(bytes);
    Value value;
    archive >> value;
    if (archive.remaining() == 0) return value;
  } catch (const boost::archive::archive_exception&) {
    // Damaged: the error below.
  }
  throw ProtocolError(fmt::format("an archive of {} bytes is damaged", bytes.size()));
}

}  // namespace lapse
