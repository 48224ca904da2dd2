// The ranks of a program as readers of one set of files.
#pragma once

#include "io/reader_group.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse::apps {

// For workers of which every rank has one. The worker must outlive the group; its calls for the group are
// collective over all workers. Worker 0 reads what can be read once only.
io::ReaderGroup reader_group(Worker& worker);

}  // namespace lapse::apps
