#include "test/simulation/frame_fault.hpp"

#include <cstdint>
#include <vector>

#include "test/simulation/packet_text.hpp"

namespace lapse::test {

namespace {

bool is_divisible(FrameKind kind) {
  return (kind >= FrameKind::on && kind <= FrameKind::transfer_with_members) ||
         kind == FrameKind::pull_answer || kind == FrameKind::push_answer || kind == FrameKind::call_answer ||
         kind == FrameKind::pull_elements_answer;
}

bool is_answer(FrameKind kind) {
  return kind == FrameKind::pull_answer || kind == FrameKind::push_answer || kind == FrameKind::call_answer ||
         kind == FrameKind::pull_elements_answer || kind == FrameKind::pull_run_answer ||
         kind == FrameKind::push_run_answer;
}

}  // namespace

void deliver_with_fault(const FrameFault& fault, std::span<const std::byte> packet,
                        const std::function<TableShard*(const FrameHeader&)>& table,
                        const std::function<void(std::span<const std::byte>)>& handle) {
  std::vector<std::uint64_t> words;  // aligned like packets
  for_each_frame(packet, [&](FrameHeader header, const std::byte* records) {
    const auto kind = static_cast<FrameKind>(header.kind);
    const std::size_t pieces = is_divisible(kind) ? header.count : 1;
    const std::size_t bytes = std::size_t{header.count} * header.record_bytes / pieces;
    TableShard* const concerned = is_divisible(kind) || is_answer(kind) ? table(header) : nullptr;
    for (std::size_t i = 0; i < pieces; ++i) {
      FrameHeader one = header;
      if (pieces > 1) one.count = 1;
      words.assign((sizeof header + bytes + 7) / 8, 0);
      auto* const begin = reinterpret_cast<std::byte*>(words.data());
      std::memcpy(begin + sizeof header, records + i * bytes, bytes);
      Key key;
      if (!is_answer(kind)) std::memcpy(&key, begin + sizeof header, sizeof key);
      const auto whole = [&] {
        std::memcpy(begin, &one, sizeof one);
        return std::span<const std::byte>(
            begin, sizeof one + (std::size_t{one.count} * one.record_bytes + 7) / 8 * 8);
      };
      if (concerned == nullptr) {
        handle(whole());
        continue;
      }
      ReceivedRecord record{*concerned, one, begin + sizeof header, key};
      if (!fault.before(record)) continue;
      handle(whole());
      fault.after(record);
    }
  });
}

}  // namespace lapse::test
