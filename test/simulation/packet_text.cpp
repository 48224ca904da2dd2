#include "test/simulation/packet_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "lapse/protocol/host/frames.hpp"

namespace lapse::test {

namespace {

// In capitals, like in docs/wire-format.md and the model.
const std::string& name_of(std::size_t kind) {
  static const auto names = [] {
    std::array<std::string, kFrameKinds> capitals;
    for (std::size_t at = 0; at < capitals.size(); ++at) {
      for (const char c : frame_name(at)) capitals[at] += static_cast<char>(std::toupper(c));
    }
    return capitals;
  }();
  return names[kind];
}

// The field after the key that distinguishes one version of the value from the next.
std::string describe_version(FrameKind kind, const std::byte* record) {
  std::uint64_t second = 0;
  std::memcpy(&second, record + sizeof second, sizeof second);
  switch (kind) {
    case FrameKind::snapshot:
    case FrameKind::refresh:
      return fmt::format(" (version {}, bit {})", second >> 1U, second & 1U);
    case FrameKind::delta:
    case FrameKind::off:
      return fmt::format(" (bit {})", second);
    default:
      return {};
  }
}

std::string describe_keys(const FrameHeader& header, const std::byte* records) {
  std::string text;
  const auto kind = static_cast<FrameKind>(header.kind);
  if (kind == FrameKind::pull_run_answer || kind == FrameKind::push_run_answer)
    return fmt::format(" items {} to {}", header.origin, header.origin + static_cast<int>(header.count) - 1);
  const bool answer = kind == FrameKind::pull_answer || kind == FrameKind::push_answer ||
                      kind == FrameKind::pull_elements_answer;
  const bool run = kind == FrameKind::pull_run || kind == FrameKind::push_run || kind == FrameKind::set_run;
  const std::size_t step = run ? sizeof(std::uint64_t) : header.record_bytes;
  for (std::uint32_t i = 0; i < header.count; ++i, records += step) {
    std::uint64_t number = 0;
    std::memcpy(&number, records, answer ? sizeof(std::uint32_t) : sizeof number);
    text += fmt::format("{}{}", i == 0 ? (answer ? " items " : " keys ") : ",", number);
    if (header.record_bytes >= 2 * sizeof number && !run) text += describe_version(kind, records);
  }
  return text;
}

}  // namespace

std::string describe_packet(std::span<const std::byte> packet) {
  std::string text;
  for_each_frame(packet, [&](const FrameHeader& header, const std::byte* records) {
    text += fmt::format("{}{} table {}{}", text.empty() ? "" : "; ", name_of(header.kind), header.table,
                        describe_keys(header, records));
    switch (static_cast<FrameKind>(header.kind)) {
      case FrameKind::pull:
      case FrameKind::push:
      case FrameKind::set:
      case FrameKind::pull_elements:
      case FrameKind::push_elements:
        text += fmt::format(" of rank {}, worker {} call {}{}", header.origin, header.operation >> 32U,
                            header.operation & 0xffff'ffffU,
                            (header.flags & FrameHeader::kByHome) != 0 ? ", by home" : "");
        break;
      case FrameKind::pull_run:
      case FrameKind::push_run:
      case FrameKind::set_run:
        text += fmt::format(" from item {}, worker {} call {}{}", header.domain, header.operation >> 32U,
                            header.operation & 0xffff'ffffU,
                            (header.flags & FrameHeader::kByHome) != 0 ? ", by home" : "");
        break;
      case FrameKind::pull_run_answer:
      case FrameKind::push_run_answer:
      case FrameKind::pull_answer:
      case FrameKind::push_answer:
      case FrameKind::pull_elements_answer:
        text += fmt::format(" from domain {}, worker {} call {}", header.domain, header.operation >> 32U,
                            header.operation & 0xffff'ffffU);
        break;
      case FrameKind::localize:
      case FrameKind::on:
      case FrameKind::delta:
      case FrameKind::off:
        text += fmt::format(" by domain {}", header.domain);
        break;
      case FrameKind::instruct:
        text += fmt::format(" to domain {}", header.domain);
        break;
      default:
        break;
    }
  });
  return text;
}

}  // namespace lapse::test
