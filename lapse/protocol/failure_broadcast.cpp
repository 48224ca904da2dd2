#include "lapse/protocol/failure_broadcast.hpp"

#include <cstring>
#include <new>

namespace lapse {

void FailureBroadcast::report(std::exception_ptr failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    poison("out of memory (std::bad_alloc)");
  } catch (const std::exception& error) {
    poison(error.what());
  } catch (...) {
    poison("unknown exception");
  }
}

void FailureBroadcast::poison(const std::string& text) {
  if (!failure_.raise(registry_.self(), text)) return;
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(FrameKind::poison);
  header.origin = registry_.self().value();
  header.record_bytes = static_cast<std::uint32_t>(text.size());
  for (std::int32_t rank = 0; rank < registry_.ranks(); ++rank) {
    if (rank == registry_.self().value()) continue;
    std::memcpy(outbox_.append(Rank(rank), header), text.data(), text.size());
  }
  registry_.wake_workers();
}

void FailureBroadcast::handle_frame(Rank, const FrameHeader& header, const std::byte* records) {
  failure_.raise(Rank(header.origin), std::string(reinterpret_cast<const char*>(records),
                                                  std::size_t{header.count} * header.record_bytes));
  registry_.wake_workers();
}

}  // namespace lapse
