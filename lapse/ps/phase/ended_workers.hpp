// Keeps workers for a while after their end.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace lapse {

// Keeps the last workers of each place in memory after their end: if the application still has a reference to
// one, its calls throw, also in the next phases. W: Worker, or a class derived from it.
//
// Thread safety: prepare while no worker lives; other functions by the thread in the place.
template <class W>
class EndedWorkers {
 public:
  // Prepares for the number of places of the next phase.
  void prepare(std::size_t places) {
    if (places_.size() < places) places_.resize(places);
  }

  void keep(std::size_t place, std::unique_ptr<W> worker) noexcept {
    worker->end();
    Place& kept = places_[place];
    kept.workers[kept.next] = std::move(worker);
    kept.next = (kept.next + 1) % kKept;
  }

  // The life of a worker (RAII).
  class Life {
   public:
    template <class... Arguments>
    Life(EndedWorkers& ended, std::size_t place, Arguments&&... arguments)
        : ended_(ended), place_(place), worker_(std::make_unique<W>(std::forward<Arguments>(arguments)...)) {}
    ~Life() { ended_.keep(place_, std::move(worker_)); }
    Life(const Life&) = delete;
    Life& operator=(const Life&) = delete;
    W& worker() const { return *worker_; }

   private:
    EndedWorkers& ended_;
    const std::size_t place_;
    std::unique_ptr<W> worker_;
  };

 private:
  static constexpr std::size_t kKept = 8;
  struct Place {
    std::array<std::unique_ptr<W>, kKept> workers;
    std::size_t next = 0;
  };
  std::vector<Place> places_;
};

}  // namespace lapse
