#include "lapse/stage/info.hpp"

#include "lapse/stage/part_of_rank.hpp"
#include "lapse/stage/stage_runner.hpp"

namespace lapse::stage {

Info::Info(Worker& worker, PartOfRank& part, std::uint32_t slot)
    : worker_(worker), part_(part), slot_(slot) {}

IterationRange Info::iterations() {
  return {times_, part_.seat().first_iteration, part_.seat().end_iteration};
}

std::uint64_t Info::epoch() const {
  return part_.seat().epoch;
}

RandomEngine& Info::random() {
  if (!random_) {
    const SeatPart& seat = part_.seat();
    std::uint64_t stream = 0;
    for (const std::uint64_t number :
         {seat.task, std::uint64_t{seat.stage}, seat.epoch, seat.first_iteration, std::uint64_t{index()}})
      stream = mix_bits(stream + kGoldenGamma) ^ number;
    random_.emplace(part_.runner().seed(), stream);
  }
  return *random_;
}

void* Info::local(const std::type_info& type, const std::function<std::shared_ptr<void>()>& make) {
  return part_.runner().local(part_.seat().task, slot_, type, make);
}

void Info::end_task() {
  part_.end_task();
}

bool Info::stop_requested() const {
  return part_.runner().stop_requested();
}

void Info::cancel(TaskId task) {
  part_.runner().cancel(task.number);
}

}  // namespace lapse::stage
