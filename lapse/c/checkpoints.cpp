// Checkpoints of the C interface.
#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lapse/c/handles.hpp"

using lapse::c::given;
using lapse::c::guarded;
using lapse::c::visit;

namespace {

lapse::CheckpointContent content_of(const void* blob, std::size_t bytes, const char* name = "blob") {
  lapse::CheckpointContent content;
  if (bytes > 0) content.global.assign(&given(static_cast<const char*>(blob), name), bytes);
  return content;
}

lapse::CheckpointContent content_of(const lapse_checkpoint_content& wanted) {
  lapse::c::check_size(wanted, "lapse_checkpoint_content");
  lapse::CheckpointContent content = content_of(wanted.blob.data, wanted.blob.size);
  if (wanted.per_worker_count > 0) given(wanted.per_worker, "per_worker");
  for (const lapse_bytes& bytes : std::span(wanted.per_worker, wanted.per_worker_count))
    content.per_worker.push_back(content_of(bytes.data, bytes.size, "per_worker").global);
  if (wanted.clock_count > 0) given(wanted.clocks, "clocks");
  for (const std::int64_t clock : std::span(wanted.clocks, wanted.clock_count))
    content.clocks.push_back(lapse::c::clock_of(clock));
  return content;
}

// Returns the worker's element of `found`. Throws UsageError if there is none.
template <class T>
const T& of_worker(const std::vector<T>& found, std::size_t worker, std::string_view what) {
  if (worker >= found.size())
    throw lapse::UsageError(
        fmt::format("the {} of worker {} of a checkpoint that has them of {}", what, worker, found.size()));
  return found[worker];
}

lapse::LoadRequest request_of(const lapse_load_request& wanted, bool grow) {
  lapse::c::check_size(wanted, "lapse_load_request");
  lapse::LoadRequest request{.grow = grow};
  if (wanted.step != nullptr) request.step = *wanted.step;
  if (wanted.folder != nullptr) request.folder = wanted.folder;
  request.is_fallback = wanted.is_fallback != 0;
  if (wanted.table_count > 0) given(wanted.tables, "tables");
  for (const lapse_table_load& load : std::span(wanted.tables, wanted.table_count)) {
    lapse::c::check_size(load, "lapse_table_load");
    request.tables.push_back({.table = &given(load.table, "the table of a lapse_table_load"),
                              .first_key = load.first_key,
                              .last_key = load.last_key,
                              .state = load.state != 0,
                              .convert = load.convert != 0});
  }
  return request;
}

lapse_status load(lapse_checkpoints* checkpoints, const lapse_load_request* request, bool grow,
                  uint64_t* loaded, const void** blob, size_t* bytes) {
  return guarded([&] {
    lapse_checkpoints& saved = given(checkpoints, "checkpoints");
    saved.loaded = saved.checkpoints.load(request_of(given(request, "request"), grow));
    if (loaded != nullptr) *loaded = saved.loaded.step;
    if (blob != nullptr) *blob = saved.loaded.global.data();
    if (bytes != nullptr) *bytes = saved.loaded.global.size();
  });
}

}  // namespace

lapse_status lapse_checkpoints_create(lapse_server* server, const char* folder, const char* local_folder,
                                      size_t keep, lapse_checkpoints** checkpoints) {
  return guarded([&] {
    lapse_server& owner = given(server, "server");
    given(checkpoints, "checkpoints");
    lapse::CheckpointSettings settings{.folder = &given(folder, "folder")};
    if (local_folder != nullptr) settings.local_folder = local_folder;
    if (keep != 0) settings.keep = keep;
    *checkpoints = new lapse_checkpoints{lapse::c::CountedHandle(owner.handles.checkpoints),
                                         {owner.server(), std::move(settings)}};
  });
}

void lapse_checkpoints_free(lapse_checkpoints* checkpoints) {
  delete checkpoints;
}

lapse_status lapse_checkpoints_add(lapse_checkpoints* checkpoints, const lapse_table* table,
                                   const char* name) {
  return guarded([&] {
    lapse_checkpoints& saved = given(checkpoints, "checkpoints");
    visit(given(table, "table"), [&](const auto& typed) {
      name == nullptr ? saved.checkpoints.add(typed) : saved.checkpoints.add(typed, name);
    });
  });
}

lapse_status lapse_checkpoints_save(lapse_checkpoints* checkpoints, uint64_t step, const void* blob,
                                    size_t bytes) {
  return guarded([&] { given(checkpoints, "checkpoints").checkpoints.save(step, content_of(blob, bytes)); });
}
lapse_status lapse_checkpoints_save_begin(lapse_checkpoints* checkpoints, uint64_t step, const void* blob,
                                          size_t bytes) {
  return guarded(
      [&] { given(checkpoints, "checkpoints").checkpoints.save_async(step, content_of(blob, bytes)); });
}
void lapse_checkpoint_content_init(lapse_checkpoint_content* content) {
  if (content == nullptr) return;
  *content = {};
  content->size = sizeof *content;
}
lapse_status lapse_checkpoints_save_as(lapse_checkpoints* checkpoints, uint64_t step,
                                       const lapse_checkpoint_content* content, int begins) {
  return guarded([&] {
    lapse::Checkpoints& saved = given(checkpoints, "checkpoints").checkpoints;
    const lapse::CheckpointContent made = content_of(given(content, "content"));
    begins == 0 ? saved.save(step, made) : saved.save_async(step, made);
  });
}
lapse_status lapse_checkpoints_finish(lapse_checkpoints* checkpoints) {
  return guarded([&] { given(checkpoints, "checkpoints").checkpoints.finish(); });
}
int lapse_checkpoints_done(const lapse_checkpoints* checkpoints) {
  return lapse::c::answered([&] { return checkpoints == nullptr || checkpoints->checkpoints.done(); }, 1);
}

int lapse_checkpoints_staged(const lapse_checkpoints* checkpoints) {
  return lapse::c::answered([&] { return checkpoints != nullptr && checkpoints->checkpoints.staged(); }, 0);
}
lapse_status lapse_checkpoints_release_memory(lapse_checkpoints* checkpoints) {
  return guarded([&] { given(checkpoints, "checkpoints").checkpoints.release_memory(); });
}

void lapse_table_load_init(lapse_table_load* load, const char* table) {
  if (load == nullptr) return;
  const lapse::TableLoad defaults;
  *load = {.size = sizeof *load,
           .table = table,
           .first_key = defaults.first_key,
           .last_key = defaults.last_key,
           .state = defaults.state ? 1 : 0,
           .convert = defaults.convert ? 1 : 0};
}

void lapse_load_request_init(lapse_load_request* request) {
  if (request == nullptr) return;
  *request = {};
  request->size = sizeof *request;
}

lapse_status lapse_checkpoints_load(lapse_checkpoints* checkpoints, const uint64_t* step, uint64_t* loaded,
                                    const void** blob, size_t* bytes) {
  lapse_load_request request;
  lapse_load_request_init(&request);
  request.step = step;
  return lapse_checkpoints_load_as(checkpoints, &request, loaded, blob, bytes);
}

lapse_status lapse_checkpoints_load_as(lapse_checkpoints* checkpoints, const lapse_load_request* request,
                                       uint64_t* loaded, const void** blob, size_t* bytes) {
  return load(checkpoints, request, false, loaded, blob, bytes);
}
lapse_status lapse_checkpoints_load_grown(lapse_checkpoints* checkpoints, const lapse_load_request* request,
                                          uint64_t* loaded, const void** blob, size_t* bytes) {
  return load(checkpoints, request, true, loaded, blob, bytes);
}

// --- about the last load

lapse_status lapse_checkpoints_worker_count(const lapse_checkpoints* checkpoints, size_t* bytes,
                                            size_t* clocks) {
  return guarded([&] {
    const lapse::LoadedCheckpoint& loaded = given(checkpoints, "checkpoints").loaded;
    if (bytes != nullptr) *bytes = loaded.per_worker.size();
    if (clocks != nullptr) *clocks = loaded.clocks.size();
  });
}

lapse_status lapse_checkpoints_worker_bytes(const lapse_checkpoints* checkpoints, size_t worker,
                                            const void** data, size_t* bytes) {
  return guarded([&] {
    const lapse::LoadedCheckpoint& loaded = given(checkpoints, "checkpoints").loaded;
    const std::string& found = of_worker(loaded.per_worker, worker, "bytes");
    given(data, "data") = found.data();
    given(bytes, "bytes") = found.size();
  });
}

lapse_status lapse_checkpoints_worker_clock(const lapse_checkpoints* checkpoints, size_t worker,
                                            int64_t* clock) {
  return guarded([&] {
    const lapse::LoadedCheckpoint& loaded = given(checkpoints, "checkpoints").loaded;
    given(clock, "clock") = static_cast<std::int64_t>(of_worker(loaded.clocks, worker, "clock").value());
  });
}

lapse_status lapse_checkpoints_problem_count(const lapse_checkpoints* checkpoints, size_t* count) {
  return guarded([&] { given(count, "count") = given(checkpoints, "checkpoints").loaded.problems.size(); });
}

lapse_status lapse_checkpoints_problem(const lapse_checkpoints* checkpoints, size_t i, const char** text) {
  return guarded([&] {
    const std::vector<std::string>& problems = given(checkpoints, "checkpoints").loaded.problems;
    given(text, "text");
    if (i >= problems.size())
      throw lapse::UsageError(fmt::format("problem {} of a load that had {}", i, problems.size()));
    *text = problems[i].c_str();
  });
}

lapse_status lapse_checkpoints_only_local(const lapse_checkpoints* checkpoints, int* only_local) {
  return guarded(
      [&] { given(only_local, "only_local") = given(checkpoints, "checkpoints").loaded.only_local ? 1 : 0; });
}
