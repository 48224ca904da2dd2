// Memory for copies of values that are being saved.
#pragma once

#include <cstddef>
#include <string>

namespace lapse {

// Kept from one copy to the next: to take memory from the system anew costs more than to copy. In huge pages
// where the system gives them. Used by one thread at a time.
class CheckpointStaging {
 public:
  // Room is divided among `sharers` processes of this host; `owner_label` begins the messages of errors.
  CheckpointStaging(std::size_t sharers, std::string owner_label)
      : sharers_(sharers), owner_label_(std::move(owner_label)) {}
  ~CheckpointStaging() { release(); }
  CheckpointStaging(const CheckpointStaging&) = delete;
  CheckpointStaging& operator=(const CheckpointStaging&) = delete;

  // Begins a copy that takes at most so many bytes; what take() has given before is no longer used. Throws
  // OutOfMemory; then there is no memory left.
  void begin(std::size_t bytes);
  // The next bytes.
  std::byte* take(std::size_t bytes);
  // What take() will return.
  const std::byte* next() const { return memory_ + taken_; }
  // Gives the memory back to the system.
  void release() noexcept;

  std::size_t bytes() const { return bytes_; }

 private:
  // constant
  std::size_t sharers_;
  std::string owner_label_;

  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace lapse
