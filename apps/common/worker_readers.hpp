// The ranks of a program as readers of one set of files.
#pragma once

#include "lapse/io/loading/reader_group.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse::apps {

// For workers of which every rank has one. The worker must outlive the group; its calls for the group are
// collective over all workers. Worker 0 reads what can be read once only, and warns, in the server's
// intervals for reports of stalls, while that is silent.
io::ReaderGroup worker_readers(const ParameterServer& server, Worker& worker);

}  // namespace lapse::apps
