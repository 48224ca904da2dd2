// k-means in two alternating stages: all slots assign movies to the nearest center, then one worker moves the
// centers. A movie is a point: the mean of its ratings, and the logarithm of their number.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>

#include "lapse/stage/engine.hpp"
#include "lapse/transport/mpi/environment.hpp"

using namespace lapse::stage;
int main(int argc, char** argv) {
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  std::map<double, std::array<double, 2>> ratings;  // by movie: sum and number
  std::ifstream file(argc > 1 ? argv[1] : "");
  for (double user = 0, movie = 0, rating = 0, time = 0; file >> user >> movie >> rating >> time;)
    ratings[movie] = {ratings[movie][0] + rating, ratings[movie][1] + 1};
  std::vector<std::array<double, 2>> points(ratings.size());
  for (auto at = points.begin(); const auto& [id, sums] : ratings)
    *at++ = {sums[0] / sums[1], std::log(sums[1])};
  lapse::ParameterServer server(MPI_COMM_WORLD);
  const auto first = lapse::Initialiser::function<double>([&](lapse::Key key, std::span<double> center) {
    std::ranges::copy(points.at(key.index() * points.size() / 4), center.begin());
  });
  const auto centers = server.create_table<double>({.keys = 4, .length = 2, .initialiser = first});
  const auto sums = server.create_table<double>({.name = "sums", .keys = 4, .length = 4});
  const std::vector<lapse::Key> keys{lapse::Key(0), lapse::Key(1), lapse::Key(2), lapse::Key(3)};
  Engine engine(server, {.slots = 2});
  const auto assign = [&](Info& info) {
    std::vector<double> at(8);
    std::vector<double> sum(16);
    info.worker().pull(centers, keys, at).wait();
    for (std::size_t i = info.index(); i < points.size(); i += info.count()) {
      const auto [x, y] = points[i];
      std::pair<double, std::size_t> best{INFINITY, 0};
      for (std::size_t c = 0; c < 4; ++c)
        best = std::min(best, {std::pow(x - at[2 * c], 2) + std::pow(y - at[2 * c + 1], 2), 4 * c});
      for (const double term : {x, y, 1.0, best.first}) sum[best.second++] += term;
    }
    info.worker().push(sums, keys, sum);
  };
  double distance = INFINITY;  // squared, of all points
  const auto move = [&](Info& info) {
    std::vector<double> sum(16);
    std::vector<double> at(8);
    info.worker().pull(sums, keys, sum).wait();
    for (std::size_t i = 0; i < 8; ++i) at[i] = sum[i / 2 * 4 + i % 2] / std::max(1.0, sum[i / 2 * 4 + 2]);
    info.worker().set(centers, keys, at);
    info.worker().set(sums, keys, std::vector<double>(16));
    const double now = sum[3] + sum[7] + sum[11] + sum[15];
    std::printf("step %d: mean squared distance %.5f\n", int(info.epoch()), now / double(points.size()));
    if (now > std::exchange(distance, now) * (1 - 1e-6)) info.end_task();
  };
  const Stage assigning{.name = "assign", .f = assign, .workers = all_slots()};
  const Stage moving{.name = "move", .f = move, .workers = {{.rank = 0, .workers = 1}}};
  engine.submit_and_wait({.name = "k-means", .repeat = 500, .stages = {assigning, moving}});
  server.close();
  MPI_Finalize();
}
