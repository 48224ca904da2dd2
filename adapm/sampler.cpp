#include "adapm/sampler.hpp"

#include "adapm/sampling/prepared_keys.hpp"
#include "adapm/sampling/sampler_state.hpp"

namespace adapm {

SampleHandle::SampleHandle(std::shared_ptr<SamplerState> sampler, SampleStream& stream,
                           std::unique_ptr<PreparedKeys> keys, std::uint64_t phase, std::size_t worker)
    : sampler_(std::move(sampler)),
      stream_(&stream),
      keys_(std::move(keys)),
      phase_(phase),
      worker_(worker) {}

SampleHandle::SampleHandle(SampleHandle&& other) noexcept = default;

SampleHandle& SampleHandle::operator=(SampleHandle&& other) noexcept {
  if (this == &other) return *this;
  finish();
  sampler_ = std::move(other.sampler_);
  stream_ = other.stream_;
  keys_ = std::move(other.keys_);
  phase_ = other.phase_;
  worker_ = other.worker_;
  return *this;
}

SampleHandle::~SampleHandle() {
  finish();
}

std::size_t SampleHandle::size() const {
  return keys_ == nullptr ? 0 : keys_->size();
}
std::size_t SampleHandle::left() const {
  return keys_ == nullptr ? 0 : keys_->left();
}

void SampleHandle::finish() noexcept {
  if (keys_ == nullptr) return;
  // In a child made by fork, the stream may still be locked by a thread of the parent.
  if (sampler_->process().is_left()) return lapse::leave_to_parent(keys_);
  stream_->give_back(std::move(keys_));
}

}  // namespace adapm
