// Batches that a thread makes ahead of their use.
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
  std::size_t ahead = 64;  // batches that are made ahead of those in use, at most
  // So many batches are made before the first is given: a parameter manager, say, brings their keys near
  // meanwhile. From 1 to `ahead`.
  std::size_t ahead_of_first = 1;
  std::size_t held = 1;  // batches that are in use at a time: of those that were given, the last
};

// Reads, shuffles and makes batches on a thread of its own, in the order in which they are used. The batches
// are recycled: a batch is filled again when it has been used, and keeps the memory of its arrays.
//
// Used by one thread, which is not the thread that makes the batches: that one calls the function.
template <class Batch>
class PrefetchingLoader {
 public:
  // Fills a batch, whatever it holds; false at the end of the input, without a batch. Batches are numbered
  // from 0. An application signals the intents of the batch here.
  using Make = std::function<bool(Batch& batch, std::uint64_t number)>;

  // Throws UsageError when nothing is to be made ahead, before the first, or held.
  PrefetchingLoader(const LoaderOptions& options, Make make)
      : parts_(std::make_unique<Parts>(options, std::move(make))) {}
  // Waits until the batch that is being made is complete. Nothing in a child that fork has made.
  ~PrefetchingLoader() {
    if (parts_->ring.is_left()) {
      leave_to_parent(parts_);
    } else {
      stop();
    }
  }
  PrefetchingLoader(const PrefetchingLoader&) = delete;
  PrefetchingLoader& operator=(const PrefetchingLoader&) = delete;

  // The next batch, valid until `held` further calls; null at the end. Waits for it. What the function has
  // thrown is thrown here, after the batches that were made before. Throws UsageError in a child that fork
  // has made.
  Batch* next() {
    const std::optional<std::uint64_t> number = parts_->ring.next();
    return number ? &parts_->batch(*number) : nullptr;
  }
  // Waits until the batch that is being made is complete. No further one is made: next() gives those that
  // are, and all that were given stay valid. Nothing in a child that fork has made.
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
