// The search for the number of workers, on curves that are known.
#include "lapse/stage/parallelism_tuner.hpp"

#include <cmath>
#include <functional>
#include <vector>

#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using lapse::stage::ParallelismTuner;

namespace {

using Curve = std::function<double(std::size_t workers)>;

// The numbers that the search measures, in order.
std::vector<std::size_t> search(ParallelismTuner& tuner, const Curve& curve) {
  std::vector<std::size_t> numbers;
  while (tuner.is_searching()) {
    REQUIRE(numbers.size() < 100);
    numbers.push_back(tuner.workers());
    tuner.record(curve(tuner.workers()));
  }
  return numbers;
}

// Work that is divided, and a cost that rises with the workers: the U of the paper's Figure 1.
Curve u_curve(double rising) {
  return [rising](std::size_t workers) {
    return 1.0 / static_cast<double>(workers) + rising * static_cast<double>(workers);
  };
}

std::size_t best_of(const Curve& curve, std::size_t max) {
  std::size_t best = 1;
  for (std::size_t workers = 2; workers <= max; ++workers)
    if (curve(workers) < curve(best)) best = workers;
  return best;
}

}  // namespace

TEST_CASE("The search doubles the workers until iterations take longer, then tries both sides") {
  ParallelismTuner tuner(64);
  const auto numbers = search(tuner, u_curve(1.0 / 144));  // least at 12
  REQUIRE(numbers == std::vector<std::size_t>{1, 2, 4, 8, 16, 32, 12, 24});
  REQUIRE(tuner.workers() == 12);
}

TEST_CASE("The chosen number is near the best for curves of all widths") {
  for (double rising = 1e-4; rising < 2; rising *= 1.3) {
    for (const std::size_t max : {1, 2, 3, 4, 7, 16, 100}) {
      ParallelismTuner tuner(max);
      const Curve curve = u_curve(rising);
      search(tuner, curve);
      CAPTURE(rising, max, tuner.workers());
      REQUIRE(tuner.workers() <= max);
      REQUIRE(curve(tuner.workers()) <= 1.15 * curve(best_of(curve, max)));
    }
  }
}

TEST_CASE("Of numbers that are equally fast, the smallest is taken") {
  ParallelismTuner tuner(16);
  search(tuner, [](std::size_t workers) {
    if (workers >= 4) return workers == 4 ? 1.02 : 1.0;
    return 4.0 / static_cast<double>(workers);
  });
  REQUIRE(tuner.workers() == 4);
}

TEST_CASE("More workers that only cost are left at once") {
  ParallelismTuner tuner(16);
  REQUIRE(search(tuner, [](std::size_t workers) { return static_cast<double>(workers); }).size() == 2);
  REQUIRE(tuner.workers() == 1);
}

TEST_CASE("One worker is not searched for") {
  ParallelismTuner tuner(1);
  REQUIRE_FALSE(tuner.is_searching());
  REQUIRE(tuner.workers() == 1);
  for (const double seconds : {1.0, 9.0, 9.0, 9.0}) tuner.record(seconds);
  REQUIRE_FALSE(tuner.is_searching());
}

TEST_CASE("The search is robust on noisy machines") {
  RandomEngine random(7);
  const Curve curve = u_curve(1.0 / 64);  // least at 8
  int poor = 0;
  for (int run = 0; run < 1000; ++run) {
    ParallelismTuner tuner(32);
    search(tuner, [&](std::size_t workers) { return curve(workers) * (1 + 0.1 * random.uniform()); });
    if (curve(tuner.workers()) > 1.15 * curve(8)) ++poor;
  }
  REQUIRE(poor <= 20);
}

TEST_CASE("A recorded curve with an outlier does not end the search early") {
  // Times of an iteration of a9a on a shared machine, in ms: the first of 4 workers met another job.
  const std::vector<double> times{9.1, 4.9, 5.3, 2.7, 2.9, 2.6, 3.1};
  ParallelismTuner tuner(8);
  std::vector<std::size_t> numbers;
  for (const double time : times) {
    if (!tuner.is_searching()) break;
    numbers.push_back(tuner.workers());
    tuner.record(time);
  }
  REQUIRE(numbers == std::vector<std::size_t>{1, 2, 4, 4, 8, 8, 6});
  REQUIRE(tuner.workers() == 8);
}

TEST_CASE("The search begins anew when the time of an iteration has drifted") {
  ParallelismTuner tuner(8);
  search(tuner, u_curve(1.0 / 16));
  const std::size_t settled = tuner.workers();
  const double seconds = u_curve(1.0 / 16)(settled);
  tuner.record(seconds * 2);  // once: noise
  tuner.record(seconds);
  tuner.record(seconds * 2);
  REQUIRE_FALSE(tuner.is_searching());
  tuner.record(seconds * 2);
  REQUIRE(tuner.is_searching());
  search(tuner, u_curve(1.0));
  REQUIRE(tuner.workers() == 1);
}
