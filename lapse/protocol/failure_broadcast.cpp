#include "lapse/protocol/failure_broadcast.hpp"

#include <cstring>
#include <new>

namespace lapse {

void FailureBroadcast::report(const std::exception_ptr& failure, std::string_view reporter) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    poison(reporter, "out of memory (std::bad_alloc)");
  } catch (const std::exception& error) {
    poison(reporter, error.what());
  } catch (...) {
    poison(reporter, "unknown exception");
  }
}

void FailureBroadcast::poison(std::string_view reporter, const std::string& text) {
  if (!failure_.raise(registry_.self(), text)) return;
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(FrameKind::poison);
  header.origin = registry_.self().value();
  header.record_bytes = static_cast<std::uint32_t>(text.size());
  for (std::int32_t rank = 0; rank < registry_.ranks(); ++rank) {
    if (rank == registry_.self().value()) continue;
    std::memcpy(outbox_.append(Rank(rank), header), text.data(), text.size());
  }
  registry_.stop_workers();
  if (!listener_) return;
  try {
    listener_(reporter, text);
  } catch (...) {
    // Every rank hears of the failure, also where there is no memory for this rank's own report.
  }
}

void FailureBroadcast::handle_frame(Rank, const FrameHeader& header, const std::byte* records) {
  const std::string text(reinterpret_cast<const char*>(records),
                         std::size_t{header.count} * header.record_bytes);
  if (failure_.raise(Rank(header.origin), text)) registry_.stop_workers();
}

}  // namespace lapse
