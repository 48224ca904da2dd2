#include "apps/common/reader_group.hpp"

#include <cstddef>
#include <span>

namespace lapse::apps {

io::ReaderGroup reader_group(Worker& worker) {
  return {.is_first = worker.index() == 0,
          .broadcast = [&worker](std::span<std::byte> bytes) { worker.broadcast(bytes); }};
}

}  // namespace lapse::apps
