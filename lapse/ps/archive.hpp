// Values as bytes that other ranks can read: for messages of the control plane.
#pragma once

#include <fmt/format.h>

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <sstream>
#include <string>

#include "lapse/core/error.hpp"

namespace lapse {

// The type has `serialize`, as Boost.Serialization wants it.
template <class Value>
std::string to_archive(const Value& value) {
  std::ostringstream out;
  boost::archive::binary_oarchive archive(out, boost::archive::no_header);
  archive << value;
  return out.str();
}

// Throws ProtocolError when the bytes are fewer or more than to_archive writes.
template <class Value>
Value from_archive(const std::string& bytes) {
  std::istringstream in(bytes);
  try {
    boost::archive::binary_iarchive archive(in, boost::archive::no_header);
    Value value;
    archive >> value;
    if (in.rdbuf()->in_avail() <= 0) return value;
  } catch (const boost::archive::archive_exception&) {
    // Damaged: the error below.
  }
  throw ProtocolError(fmt::format("an archive of {} bytes is damaged", bytes.size()));
}

}  // namespace lapse
