// The format of traces of allocation (docs/allocation-traces.md), for their writer and their readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lapse {

// The first bytes of a file, with the version of the format.
inline constexpr std::string_view kAllocationMagic = "LAPSETR1";
// Times are multiples of it.
inline constexpr std::int64_t kTraceTickNanoseconds = 100;

// The first byte of a record. Bytes of at least kRoleRecord are about a key: the ticks since the record
// before follow, and the signed difference of the key from the key before.
enum class TraceRecord : std::uint8_t {
  header = 1,    // text: JSON about the rank
  table = 2,     // ticks, text: JSON about a table that is made, whose keys are in the trace
  on_table = 3,  // number of the table that the following changes are of
  begin = 4,     // ticks, text: a phase begins
  end = 5,       // ticks: the last phase that has begun ends
  dropped = 6,   // ticks: from here on nothing is recorded but phases and the end, for the limit of bytes
  clock = 7,     // ticks, two signed numbers: bounds, in nanoseconds, of this rank's clock minus rank 0's
  close = 8,     // ticks: the server was closed
  round = 9,     // ticks: the rank sends what changes of replicas have added up; only beside wants
  band = 10,     // ticks, two numbers of ticks, text: how long ago a named interval has ended, and has begun
  note = 11,     // ticks, two texts: the name of a property of the run, and its value
};
inline constexpr std::uint8_t kRoleRecord = 0x80;    // plus TraceState: what the domain has of the key
inline constexpr std::uint8_t kWantRecord = 0x88;    // intents of the domain cease to want it; plus 1: begin
inline constexpr std::uint8_t kAccessRecord = 0x90;  // plus TraceAccess: a worker of the rank accesses it

// What a domain has of a key, as bits.
enum TraceState : std::uint8_t {
  kTraceOwner = 1,    // the main copy
  kTraceCopy = 2,     // a replica
  kTraceAwaited = 4,  // either is on its way here
};
inline constexpr std::uint8_t kTraceStates = 8;

// An access of a key, as bits.
enum TraceAccess : std::uint8_t {
  kTraceWrites = 1,
  kTraceRemote = 2,  // it needs messages to another domain
};
inline constexpr std::uint8_t kTraceAccesses = 4;

// Whole numbers have seven bits in each byte, the lowest first; the highest bit of a byte says that another
// one follows. Signed numbers are 2n, or -2n - 1 if negative. Texts have their length before them.
inline void append_number(std::string& bytes, std::uint64_t number) {
  while (number >= 0x80) {
    bytes += static_cast<char>(static_cast<std::uint8_t>(number | 0x80));
    number >>= 7;
  }
  bytes += static_cast<char>(static_cast<std::uint8_t>(number));
}
inline void append_signed(std::string& bytes, std::int64_t number) {
  const auto doubled = static_cast<std::uint64_t>(number) << 1U;
  append_number(bytes, number < 0 ? ~doubled : doubled);
}
inline void append_text(std::string& bytes, std::string_view text) {
  append_number(bytes, text.size());
  bytes += text;
}

inline constexpr std::uint64_t kMaxTraceText = std::uint64_t{1} << 24U;

// Takes records apart. A function returns nothing at the end of the bytes; or, and then the bytes are
// damaged, for a number of more than 64 bits and a text of more than kMaxTraceText bytes.
class TraceBytes {
 public:
  explicit TraceBytes(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return position_ == bytes_.size(); }
  std::size_t position() const { return position_; }
  bool is_damaged() const { return is_damaged_; }

  std::optional<std::uint8_t> byte() {
    if (at_end()) return std::nullopt;
    return static_cast<std::uint8_t>(bytes_[position_++]);
  }
  std::optional<std::uint64_t> number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto next = byte();
      if (!next) return std::nullopt;
      if (shift == 63 && *next > 1) break;
      number |= std::uint64_t{*next & 0x7FU} << shift;
      if (*next < 0x80) return number;
    }
    is_damaged_ = true;
    return std::nullopt;
  }
  std::optional<std::int64_t> signed_number() {
    const auto doubled = number();
    if (!doubled) return std::nullopt;
    const std::uint64_t half = *doubled >> 1U;
    return static_cast<std::int64_t>((*doubled & 1U) != 0 ? ~half : half);
  }
  std::optional<std::string_view> text() {
    const auto length = number();
    if (length && *length > kMaxTraceText) is_damaged_ = true;
    if (!length || *length > bytes_.size() - position_) return std::nullopt;
    const std::string_view text = bytes_.substr(position_, *length);
    position_ += *length;
    return text;
  }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
  bool is_damaged_ = false;
};

}  // namespace lapse
