#include "test/simulation/packet_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "lapse/protocol/frames.hpp"

namespace lapse::test {

namespace {

constexpr std::array<std::string_view, kFrameKinds> kNames{"?",
                                                           "PULL",
                                                           "PUSH",
                                                           "SET",
                                                           "PULL_ANSWER",
                                                           "PUSH_ANSWER",
                                                           "LOCALIZE",
                                                           "INSTRUCT",
                                                           "TRANSFER",
                                                           "WORKERS_UP",
                                                           "WORKERS_DOWN",
                                                           "WAVE_UP",
                                                           "WAVE_DOWN",
                                                           "POISON",
                                                           "CALL",
                                                           "CALL_ANSWER",
                                                           "FAILED_ANSWER",
                                                           "LOCALIZE_FOR",
                                                           "LOCALIZE_ANSWER",
                                                           "LEASE_REQUEST",
                                                           "LEASE_GRANT",
                                                           "LEASE_RELEASE",
                                                           "REFUSE",
                                                           "LOCALIZE_FAILED",
                                                           "LEASE_REFUSED"};

std::string describe_keys(const FrameHeader& header, const std::byte* records) {
  std::string text;
  const auto kind = static_cast<FrameKind>(header.kind);
  const bool answer = kind == FrameKind::pull_answer || kind == FrameKind::push_answer;
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    std::uint64_t number = 0;
    std::memcpy(&number, records, answer ? sizeof(std::uint32_t) : sizeof number);
    text += fmt::format("{}{}", i == 0 ? (answer ? " items " : " keys ") : ",", number);
  }
  return text;
}

}  // namespace

std::string describe_packet(std::span<const std::byte> packet) {
  std::string text;
  while (!packet.empty()) {
    FrameHeader header;
    std::memcpy(&header, packet.data(), sizeof header);
    const std::size_t bytes = std::size_t{header.count} * header.record_bytes;
    text += fmt::format("{}{} table {}{}", text.empty() ? "" : "; ", kNames[header.kind], header.table,
                        describe_keys(header, packet.data() + sizeof header));
    switch (static_cast<FrameKind>(header.kind)) {
      case FrameKind::pull:
      case FrameKind::push:
      case FrameKind::set:
        text += fmt::format(" of rank {}, worker {} call {}{}", header.origin, header.operation >> 32U,
                            header.operation & 0xffff'ffffU,
                            (header.flags & FrameHeader::kByHome) != 0 ? ", by home" : "");
        break;
      case FrameKind::pull_answer:
      case FrameKind::push_answer:
        text += fmt::format(" from domain {}, worker {} call {}", header.domain, header.operation >> 32U,
                            header.operation & 0xffff'ffffU);
        break;
      case FrameKind::localize:
        text += fmt::format(" by domain {}", header.domain);
        break;
      case FrameKind::instruct:
        text += fmt::format(" to domain {}", header.domain);
        break;
      default:
        break;
    }
    packet = packet.subspan(std::min(packet.size(), sizeof header + (bytes + 7) / 8 * 8));
  }
  return text;
}

}  // namespace lapse::test
