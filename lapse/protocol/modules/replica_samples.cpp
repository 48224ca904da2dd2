#include "lapse/protocol/modules/replica_samples.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "lapse/protocol/key/replica_staleness.hpp"
#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

void ReplicaSamples::take_reads() {
  for (const auto& worker : registry_.workers()) {
    worker->read_samples().take([this](const ReadSamples::Sample& sample) {
      progress_role.assert_held();  // Called in place.
      note_read(registry_.table(sample.table.value()), sample.key, sample.at);
    });
  }
}

void ReplicaSamples::count_copies(Clock::time_point now) {
  if (!copies_over_time_.is_due(now)) return;
  std::vector<std::uint64_t> copies;
  for (const auto& table : registry_.tables())
    copies.push_back(table->copies() == nullptr ? 0 : table->copies()->replicas().in_use());
  copies_over_time_.add(now, std::move(copies));
}

}  // namespace lapse
