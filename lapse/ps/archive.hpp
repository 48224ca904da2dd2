// Values as bytes that other ranks can read: for messages of the control plane.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <boost/archive/archive_exception.hpp>
#include <boost/archive/binary_iarchive_impl.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/archive/impl/archive_serializer_map.ipp>
#include <boost/archive/impl/basic_binary_iarchive.ipp>
#include <boost/archive/impl/basic_binary_iprimitive.ipp>
#include <boost/serialization/collection_size_type.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <cstddef>
#include <istream>
#include <sstream>
#include <string>
#include <utility>

#include "lapse/core/error.hpp"

namespace lapse {

// Reads what boost::archive::binary_oarchive writes. A length that exceeds the bytes that are left is refused
// before memory is allocated for it, and so is a bool that is none. Used by one thread.
class BoundedArchive final
    : public boost::archive::binary_iarchive_impl<BoundedArchive, char, std::char_traits<char>> {
 public:
  using Base = boost::archive::binary_iarchive_impl<BoundedArchive, char, std::char_traits<char>>;
  using Base::load;

  explicit BoundedArchive(std::istream& in) : Base(in, boost::archive::no_header), in_(in) {}

  void load(std::string& text) {
    std::size_t length = 0;
    load(length);
    check(length);
    text.resize(length);
    if (length > 0) load_binary(text.data(), length);
  }
  void load(bool& value) {
    unsigned char byte = 0;
    load(byte);
    if (byte > 1) refuse();
    value = byte == 1;
  }
  template <class Value>
  void load_override(Value& value) {
    Base::load_override(value);
  }
  // Every element of a container takes a byte at least.
  void load_override(boost::serialization::collection_size_type& count) {
    Base::load_override(count);
    check(std::as_const(count));
  }

 private:
  void check(std::size_t bytes) const {
    const auto left = static_cast<std::size_t>(std::max<std::streamsize>(in_.rdbuf()->in_avail(), 0));
    if (bytes > left) refuse();
  }
  [[noreturn]] static void refuse() {
    throw boost::archive::archive_exception(boost::archive::archive_exception::input_stream_error);
  }

  std::istream& in_;
};

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
    BoundedArchive archive(in);
    Value value;
    archive >> value;
    if (in.rdbuf()->in_avail() <= 0) return value;
  } catch (const boost::archive::archive_exception&) {
    // Damaged: the error below.
  }
  throw ProtocolError(fmt::format("an archive of {} bytes is damaged", bytes.size()));
}

}  // namespace lapse
