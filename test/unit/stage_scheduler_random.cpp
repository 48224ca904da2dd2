// Random tasks on random slots: every task ends as it must, nothing waits without end, and small runs take
// little longer than the best possible schedule.
#include <algorithm>
#include <numeric>
#include <queue>

#include "lapse/core/random.hpp"
#include "lapse/stage/scheduler.hpp"
#include "test/support/catch.hpp"
#include "test/unit/stage_play.hpp"

using namespace lapse;
using namespace lapse::stage;
using lapse::stage::test::Play;
using lapse::stage::test::slots_of;
using lapse::stage::test::stage_of;
using lapse::stage::test::task_of;
using std::chrono::milliseconds;

namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }
  bool one_of(std::size_t sides) { return below(sides) == 0; }

 private:
  RandomEngine random_;
};

Workers random_workers(Dice& dice, const RunSlots& slots) {
  switch (dice.below(5)) {
    case 0:
      return all_slots();
    case 1:
      return automatic();
    case 2: {
      std::vector<Place> places;
      for (std::size_t rank = 0; rank < slots.slots.size(); ++rank)
        if (slots.slots[rank] > 0 && (places.empty() || dice.one_of(2)))
          places.push_back({.rank = static_cast<std::int32_t>(rank),
                            .workers = static_cast<std::int32_t>(1 + dice.below(slots.slots[rank]))});
      std::ranges::reverse(places);
      return Workers(places);
    }
    default:
      return Workers(static_cast<std::int32_t>(1 + dice.below(slots.total())));
  }
}

TaskSpec random_task(Dice& dice, const RunSlots& slots, std::uint64_t number) {
  TaskSpec task = task_of(dice.one_of(3) ? "" : "task" + std::to_string(dice.below(5)), {});
  for (std::uint64_t before = 0; before < number; ++before)
    if (dice.one_of(6)) task.after.push_back(before);
  task.repeat = 1 + dice.below(3);
  const std::size_t stages = 1 + dice.below(3);
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const Workers workers = random_workers(dice, slots);
    const bool iterates = workers.kind() == Workers::Kind::automatic || dice.one_of(2);
    task.stages.push_back(stage_of("stage" + std::to_string(stage), workers,
                                   iterates ? 1 + dice.below(300) : 0, static_cast<double>(dice.below(4))));
  }
  if (dice.one_of(2))
    for (std::size_t rank = 0; rank < slots.slots.size(); ++rank)
      task.data_bytes.push_back(dice.below(3) * 100);
  return task;
}

struct Ending {
  Time when;
  GroupNumber group;
  bool operator>(const Ending& other) const {
    return std::pair(when, group) > std::pair(other.when, other.group);
  }
};

// Runs all tasks; parts take random times. Some fail, some are cancelled. Returns the longest wait of a stage
// for slots, in PartEnds.
void run_randomly(std::uint64_t seed) {
  CAPTURE(seed);
  Dice dice(seed);
  std::vector<std::size_t> per_rank(1 + dice.below(4));
  for (std::size_t& slots : per_rank) slots = dice.below(5);
  per_rank[dice.below(per_rank.size())] += 1;
  RunSlots slots = slots_of(per_rank);
  for (std::int32_t& domain : slots.domains) domain = static_cast<std::int32_t>(dice.below(2));
  SchedulerSettings settings;
  settings.aging = milliseconds(20);
  Play play(slots, settings);
  const std::uint64_t tasks = 1 + dice.below(12);
  for (std::uint64_t task = 0; task < tasks; ++task) play.add(random_task(dice, slots, task));

  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings;
  std::map<GroupNumber, bool> known;
  std::map<std::uint64_t, std::size_t> waits;  // of ready tasks: PartEnds since they are starving
  const auto note = [&] {
    for (const auto& [group, seat] : play.running())
      if (known.emplace(group, true).second)
        endings.push({play.now() + milliseconds(1 + dice.below(30)), group});
  };
  play.begin();
  note();
  bool failed_some = false;
  for (int step = 0; !play.has_ended(); ++step) {
    REQUIRE(step < 100000);
    REQUIRE_FALSE(endings.empty());  // no deadlock: something runs
    const Ending ending = endings.top();
    endings.pop();
    play.wait(std::chrono::ceil<milliseconds>(ending.when - play.now()));
    if (dice.one_of(200)) play.on(CancelTask{.task = dice.below(tasks)});
    if (play.has_ended()) break;
    const SeatPart seat = play.running().at(ending.group);
    if (dice.one_of(100)) {
      failed_some = true;
      play.fail(ending.group, "dice");
    } else {
      play.end(ending.group, 1e-4 * static_cast<double>(1 + dice.below(50)),
               1e-4 * static_cast<double>(dice.below(9)));
    }
    note();
    for (std::uint64_t task = 0; task < tasks; ++task) {
      if (play.result(task).state != TaskState::ready) waits[task] = 0;
      // Aging makes it starve after 10 * 20 ms; then the starving ones before it come, one part each.
      REQUIRE(++waits[task] < 1000);
    }
  }
  for (std::uint64_t task = 0; task < tasks; ++task) {
    const TaskResult& result = play.result(task);
    REQUIRE(result.has_ended());
    REQUIRE(play.ends().at(task) == 1);
    if (result.state != TaskState::done) continue;
    // T2: every iteration of every epoch has run.
    const TaskSpec& spec = play.scheduler().spec(task);
    REQUIRE(result.epochs == spec.repeat);
    for (std::size_t stage = 0; stage < spec.stages.size(); ++stage) {
      REQUIRE(result.stages[stage].iterations == spec.stages[stage].iterations * spec.repeat);
      REQUIRE(result.stages[stage].parts >= spec.repeat);
    }
  }
  static_cast<void>(failed_some);
}

// --- the best schedule of tasks with one stage each, on the slots of one rank

struct Job {
  std::size_t workers;
  std::size_t time;
};

// Each job begins as early as possible, in the order given.
std::size_t makespan(const std::vector<Job>& jobs, const std::vector<std::size_t>& order, std::size_t slots) {
  std::vector<std::size_t> used;  // by time
  std::size_t end = 0;
  for (const std::size_t job : order) {
    std::size_t begin = 0;
    const auto fits = [&] {
      for (std::size_t time = begin; time < begin + jobs[job].time; ++time)
        if (time < used.size() && used[time] + jobs[job].workers > slots) return false;
      return true;
    };
    while (!fits()) ++begin;
    used.resize(std::max(used.size(), begin + jobs[job].time));
    for (std::size_t time = begin; time < begin + jobs[job].time; ++time) used[time] += jobs[job].workers;
    end = std::max(end, begin + jobs[job].time);
  }
  return end;
}

std::size_t best_makespan(const std::vector<Job>& jobs, std::size_t slots) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::size_t best = makespan(jobs, order, slots);
  while (std::next_permutation(order.begin(), order.end()))
    best = std::min(best, makespan(jobs, order, slots));
  return best;
}

}  // namespace

TEST_CASE("Random tasks all end, each once, without a deadlock or a slot in two groups") {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) run_randomly(seed);
}

TEST_CASE("Small runs take at most twice as long as the best of all schedules") {
  Dice dice(11);
  std::size_t total = 0;
  std::size_t best_total = 0;
  for (int run = 0; run < 300; ++run) {
    const std::size_t slots = 1 + dice.below(4);
    std::vector<Job> jobs(1 + dice.below(6));
    for (Job& job : jobs) job = {.workers = 1 + dice.below(slots), .time = 1 + dice.below(5)};
    Play play(slots_of({slots}));
    for (const Job& job : jobs)
      play.add(task_of("", {stage_of("a", static_cast<std::int32_t>(job.workers))}));
    play.begin();
    std::map<GroupNumber, std::size_t> left;
    std::size_t time = 0;
    for (; !play.has_ended(); ++time) {
      for (const auto& [group, seat] : play.running()) left.try_emplace(group, jobs[seat.task].time);
      play.wait(milliseconds(1));
      std::vector<GroupNumber> ended;
      for (const auto& [group, seat] : play.running())
        if (--left.at(group) == 0) ended.push_back(group);
      for (const GroupNumber group : ended) play.end(group);
    }
    const std::size_t best = best_makespan(jobs, slots);
    REQUIRE(time >= best);
    REQUIRE(time <= 2 * best);
    total += time;
    best_total += best;
  }
  REQUIRE(static_cast<double>(total) <= 1.2 * static_cast<double>(best_total));
}
