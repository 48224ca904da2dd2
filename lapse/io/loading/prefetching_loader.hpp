// Batches that a thread prepares ahead of their use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "lapse/core/process/library_thread.hpp"
#include "lapse/core/process/own_process.hpp"
#include "lapse/io/loading/batch_ring.hpp"

namespace lapse::io {

struct LoaderOptions {
  std::size_t ahead = 64;  // batches made ahead of those in use, at most
  // Number of batches made before the first is returned, for example so that a parameter manager brings their
  // keys near meanwhile. From 1 to `ahead`.
  std::size_t ahead_of_first = 1;
  std::size_t held = 1;  // batches in use at a time: the last ones returned
};

// Reads, shuffles and makes batches on a thread of its own, in the order of their use. Batches are recycled:
// a used batch is filled again and keeps the memory of its arrays.
//
// Used by one thread, other than the loader's own, which calls `make`.
template <class Batch>
class PrefetchingLoader {
 public:
  // Fills a batch, overwriting it; returns false, without a batch, at the end of the input. Batches are
  // numbered from 0. An application signals the batch's intents here.
  using Make = std::function<bool(Batch& batch, std::uint64_t number)>;

  // Throws UsageError if an option is 0, or ahead_of_first exceeds ahead.
  PrefetchingLoader(const LoaderOptions& options, Make make)
      : parts_(std::make_unique<Parts>(options, std::move(make))) {}
  // Waits until the batch in progress is complete. Does nothing in a child made by fork.
  ~PrefetchingLoader() {
    if (parts_->ring.is_left()) {
      leave_to_parent(parts_);
    } else {
      stop();
    }
  }
  PrefetchingLoader(const PrefetchingLoader&) = delete;
  PrefetchingLoader& operator=(const PrefetchingLoader&) = delete;

  // Waits for the next batch and returns it, valid until `held` further calls; null at the end. Throws what
  // `make` threw, after the batches made before, and UsageError in a child made by fork.
  Batch* next() {
    const std::optional<std::uint64_t> number = parts_->ring.next();
    return number ? &parts_->batch(*number) : nullptr;
  }
  // Waits until the batch in progress is complete and makes no further ones. next() returns the complete
  // ones; all returned batches stay valid. Does nothing in a child made by fork.
  void stop() {
    if (parts_->ring.is_left()) return;
    parts_->ring.stop();
    if (parts_->thread.joinable()) parts_->thread.join();
  }

 private:
  struct Parts {
    Parts(const LoaderOptions& options, Make function)
        : ring(options.ahead + options.held, options.held, options.ahead_of_first),
          batches(options.ahead + options.held),
          make(std::move(function)),
          thread(start_library_thread("lapse-loader", [this] { run(); })) {}

    Batch& batch(std::uint64_t number) { return batches[number % batches.size()]; }

    void run() noexcept {
      try {
        while (const std::optional<std::uint64_t> number = ring.begin()) {
          if (!make(batch(*number), *number)) break;
          ring.end();
        }
        ring.finish();
      } catch (...) {
        ring.finish(std::current_exception());
      }
    }

    BatchRing ring;
    std::vector<Batch> batches;
    Make make;
    std::thread thread;  // last: it uses the others
  };

  std::unique_ptr<Parts> parts_;
};

}  // namespace lapse::io
