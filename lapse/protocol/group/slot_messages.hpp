// Messages between the ranks' controls of slots, whose content the protocol does not know.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "lapse/core/error.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"

namespace lapse {

// Messages between two ranks arrive in the order in which they were sent.
//
// Thread safety: the holder of the progress lock; set_receiver while no engine runs.
class SlotMessages final : public ProtocolModule {
 public:
  class Receiver {
   public:
    virtual void handle_message(Rank from, std::span<const std::byte> message)
        LAPSE_REQUIRES(progress_role) = 0;

   protected:
    ~Receiver() = default;
  };

  static constexpr FrameSpec kFrames[] = {{FrameKind::slots}};

  explicit SlotMessages(Outbox& outbox) : outbox_(outbox) {}

  // Null: no rank sends any in this phase.
  void set_receiver(Receiver* receiver) { receiver_ = receiver; }
  void send(Rank to, std::span<const std::byte> message) LAPSE_REQUIRES(progress_role) {
    FrameHeader header = FrameHeader::of(FrameKind::slots);
    header.record_bytes = static_cast<std::uint32_t>(message.size());
    std::byte* const record = outbox_.append(to, header);
    if (!message.empty()) std::memcpy(record, message.data(), message.size());
  }

  std::span<const FrameSpec> frames() const override { return kFrames; }
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role) {
    if (receiver_ == nullptr) throw ProtocolError("a message about slots in a phase without slots");
    // A frame has several records where messages of equal length follow each other.
    for (std::uint32_t i = 0; i < header.count; ++i)
      receiver_->handle_message(from, {records + std::size_t{i} * header.record_bytes, header.record_bytes});
  }
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return true; }

 private:
  Outbox& outbox_;
  Receiver* receiver_ = nullptr;
};

}  // namespace lapse
