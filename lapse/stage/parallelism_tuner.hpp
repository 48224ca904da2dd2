// Finds the number of workers with which an iteration of a stage takes the least time (FlexPS, section 5.4).
#pragma once

#include <boost/serialization/map.hpp>
#include <boost/serialization/vector.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace lapse::stage {

// Parts of a stage run with 1, 2, 4, ... workers, and at last with all, while the time of an iteration falls;
// then with one step to each side of the best number. Of the numbers whose times are nearly the least, the
// smallest is kept. The iterations of the search are work of the stage like all others.
//
// A time that is a little above the least is measured once more, as machines are noisy. The search begins
// anew when two consecutive parts take 1.5 times as long as the number of workers did when it was chosen, or
// less than 1 / 1.5 of that.
class ParallelismTuner {
 public:
  struct Settings {
    double equal = 0.03;    // times that differ by this part of the least are equal
    double unclear = 0.10;  // times that exceed the least by no more are measured twice
    double drift = 0.5;
  };

  enum class Phase : std::uint8_t { rising, sides, settled };
  struct Measured {
    double seconds = 0;  // the least
    std::int32_t times = 0;

    template <class Archive>
    void serialize(Archive& archive, unsigned int) {
      archive& seconds& times;
    }
  };
  // What was found out, for a tuner with the same highest number.
  struct State {
    Phase phase = Phase::rising;
    std::size_t workers = 1;
    std::map<std::size_t, Measured> measured;
    std::vector<std::size_t> sides;  // still to be measured
    double settled_seconds = 0;
    std::int32_t drifted = 0;  // parts that follow each other

    template <class Archive>
    void serialize(Archive& archive, unsigned int) {
      archive& phase& workers& measured& sides& settled_seconds& drifted;
    }
  };

  // Numbers from 1 to `max_workers`, at least 1.
  explicit ParallelismTuner(std::size_t max_workers) : ParallelismTuner(max_workers, Settings()) {}
  ParallelismTuner(std::size_t max_workers, const Settings& settings);
  // Continues from there. Throws ProtocolError for an impossible state.
  ParallelismTuner(std::size_t max_workers, State state);

  // For the next part of the stage.
  std::size_t workers() const { return state_.workers; }
  bool is_searching() const { return state_.phase != Phase::settled; }
  std::size_t max_workers() const { return max_workers_; }
  const State& state() const { return state_; }
  // The time of an iteration, in a part with workers() workers.
  void record(double seconds);
  // The measured number of workers with the smallest regret so far; nullopt before the first.
  std::optional<std::size_t> best() const;

 private:
  void search_anew();
  void settle();
  double least() const;
  // Whether the number's time is unclear, so that it is measured again.
  bool measures_again(const Measured& measured) const;
  void next_side();

  const std::size_t max_workers_;
  const Settings settings_;
  State state_;
};

}  // namespace lapse::stage
