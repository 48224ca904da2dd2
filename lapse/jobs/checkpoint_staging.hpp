// Memory for copies of values that are being saved.
#pragma once

#include <cstddef>
#include <string>

namespace lapse {

// Kept from one copy to the next: new memory from the system costs more than the copy. Uses huge pages if the
// system provides them. Used by one thread at a time.
class CheckpointStaging {
 public:
  // Divides memory among `sharers` processes of this host. Error messages begin with `owner_label`.
  CheckpointStaging(std::size_t sharers, std::string owner_label)
      : sharers_(sharers), owner_label_(std::move(owner_label)) {}
  ~CheckpointStaging() { release(); }
  CheckpointStaging(const CheckpointStaging&) = delete;
  CheckpointStaging& operator=(const CheckpointStaging&) = delete;

  // Begins a copy of at most `bytes` bytes, and invalidates the results of earlier take() calls. Throws
  // OutOfMemory; then no memory is left.
  void begin(std::size_t bytes);
  // Returns the next bytes.
  std::byte* take(std::size_t bytes);
  // Returns what take() will return.
  const std::byte* next() const { return memory_ + taken_; }
  // Returns the memory to the system.
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
