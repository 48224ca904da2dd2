// Reads archives of Boost.Serialization that may be damaged.
#pragma once

#include <boost/archive/archive_exception.hpp>
#include <boost/archive/binary_iarchive_impl.hpp>
#include <boost/archive/impl/archive_serializer_map.ipp>
#include <boost/archive/impl/basic_binary_iarchive.ipp>
#include <boost/archive/impl/basic_binary_iprimitive.ipp>
#include <boost/serialization/array_optimization.hpp>
#include <boost/serialization/collection_size_type.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <streambuf>
#include <string>
#include <utility>

namespace lapse {

// A stream buffer that reads bytes in memory, which must outlive the object. Thread safety: one thread.
class MemoryInput : public std::streambuf {
 public:
  explicit MemoryInput(std::span<const char> bytes) {
    // std::streambuf takes no constant bytes. Nothing writes to them.
    char* const begin = const_cast<char*>(bytes.data());
    setg(begin, begin, begin + bytes.size());
  }

  std::size_t remaining() const { return static_cast<std::size_t>(egptr() - gptr()); }
};

// Reads the output of boost::archive::binary_oarchive without a header. Refuses a length that exceeds the
// remaining bytes before it allocates memory; boost::archive::binary_iarchive allocates what a length claims.
// Throws boost::archive::archive_exception. Thread safety: one thread.
class BoundedArchive final
    : private MemoryInput,
      public boost::archive::binary_iarchive_impl<BoundedArchive, char, std::char_traits<char>> {
 public:
  using Base = boost::archive::binary_iarchive_impl<BoundedArchive, char, std::char_traits<char>>;
  using Base::load;

  // The bytes must outlive the object.
  explicit BoundedArchive(std::span<const char> bytes)
      : MemoryInput(bytes), Base(static_cast<MemoryInput&>(*this), boost::archive::no_header) {}

  using MemoryInput::remaining;

  // These override functions of Boost's archives.
  void load(bool& value) {
    std::uint8_t byte = 0;
    load_binary(&byte, sizeof byte);
    require(byte <= 1);
    value = byte == 1;
  }
  void load(std::string& text) {
    std::size_t length = 0;
    load(length);
    require(length <= remaining());
    text.resize(length);
    load_binary(text.data(), length);
  }
  template <class Value>
  void load_override(Value& value) {
    Base::load_override(value);
  }
  // Every element of a container takes at least one byte.
  void load_override(boost::serialization::collection_size_type& count) {
    Base::load_override(count);
    require(std::as_const(count) <= remaining());
  }

 private:
  static void require(bool condition) {
    if (!condition)
      throw boost::archive::archive_exception(boost::archive::archive_exception::input_stream_error);
  }
};

}  // namespace lapse

// Reads lists of numbers as boost::archive::binary_oarchive writes them.
BOOST_SERIALIZATION_USE_ARRAY_OPTIMIZATION(lapse::BoundedArchive)
