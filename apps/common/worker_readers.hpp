// Lets all ranks of a program read one set of files.
#pragma once

#include "lapse/io/loading/reader_group.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse::apps {

// Requires one worker per rank. The worker must outlive the group; its calls for the group are collective
// over all workers. Worker 0 reads files that can be read only once, and warns, at the server's stall report
// intervals, while such a file delivers nothing.
io::ReaderGroup worker_readers(const ParameterServer& server, Worker& worker);

}  // namespace lapse::apps
