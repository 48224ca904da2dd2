#include "lapse/protocol/host/failure_broadcast.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "lapse/core/exception_text.hpp"

namespace lapse {

namespace {
// A frame with a message of the reserved length, and its padding.
constexpr std::size_t kReservedBytes =
    Failure::kReservedText + sizeof(FrameHeader) + PacketBuffer::kAlignment;
}  // namespace

FailureBroadcast::FailureBroadcast(Rank self, std::int32_t ranks, Outbox& outbox,
                                   std::function<void()> stop_workers)
    : self_(self),
      ranks_(ranks),
      outbox_(outbox),
      stop_workers_(std::move(stop_workers)),
      reserved_(static_cast<std::size_t>(ranks)) {
  for (std::int32_t rank = 0; rank < ranks_; ++rank)
    if (rank != self_.value()) reserved_[Rank(rank).index()].reserve(kReservedBytes);
}

void FailureBroadcast::report(const std::exception_ptr& failure,
                              std::optional<std::uint64_t> worker) noexcept {
  with_text_of(failure, [&](const char* text) LAPSE_REQUIRES(progress_role) { poison(worker, text); });
}

void FailureBroadcast::poison(std::optional<std::uint64_t> worker, std::string_view text) noexcept {
  if (!failure_.raise(self_, text)) return;
  for (std::int32_t rank = 0; rank < ranks_; ++rank)
    if (rank != self_.value()) send(Rank(rank), text);
  stop_workers_();
  if (!listener_) return;
  try {
    listener_(worker, text);
  } catch (...) {
    // Every rank gets the failure, even if this rank's own report cannot be allocated.
  }
}

void FailureBroadcast::send(Rank to, std::string_view text) noexcept {
  FrameHeader header = FrameHeader::of(FrameKind::poison);
  header.origin = self_.value();
  const auto append = [&]() LAPSE_REQUIRES(progress_role) {
    header.record_bytes = static_cast<std::uint32_t>(text.size());
    std::memcpy(outbox_.append(to, header), text.data(), text.size());
  };
  try {
    append();
  } catch (const std::bad_alloc&) {
    text = text.substr(0, Failure::kReservedText);
    outbox_.begin_packet_in(std::move(reserved_[to.index()]), to, header);
    append();
  }
}

void FailureBroadcast::handle_frame(Rank, const FrameHeader& header, const std::byte* records) {
  const std::string_view text(reinterpret_cast<const char*>(records),
                              std::size_t{header.count} * header.record_bytes);
  if (failure_.raise(Rank(header.origin), text)) stop_workers_();
}

}  // namespace lapse
