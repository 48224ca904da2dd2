// Checkpoints of the C interface.
#include <string>
#include <utility>

#include "lapse/c/handles.hpp"

using lapse::c::given;
using lapse::c::guarded;
using lapse::c::visit;

namespace {

lapse::CheckpointContent content_of(const void* blob, std::size_t bytes) {
  lapse::CheckpointContent content;
  if (bytes > 0) content.global.assign(&given(static_cast<const char*>(blob), "blob"), bytes);
  return content;
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
    *checkpoints = new lapse_checkpoints{{owner.server(), std::move(settings)}};
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
lapse_status lapse_checkpoints_finish(lapse_checkpoints* checkpoints) {
  return guarded([&] { given(checkpoints, "checkpoints").checkpoints.finish(); });
}
int lapse_checkpoints_done(const lapse_checkpoints* checkpoints) {
  return checkpoints == nullptr || checkpoints->checkpoints.done() ? 1 : 0;
}

lapse_status lapse_checkpoints_load(lapse_checkpoints* checkpoints, const uint64_t* step, uint64_t* loaded,
                                    const void** blob, size_t* bytes) {
  return guarded([&] {
    lapse_checkpoints& saved = given(checkpoints, "checkpoints");
    lapse::LoadRequest request;
    if (step != nullptr) request.step = *step;
    saved.loaded = saved.checkpoints.load(request);
    if (loaded != nullptr) *loaded = saved.loaded.step;
    if (blob != nullptr) *blob = saved.loaded.global.data();
    if (bytes != nullptr) *bytes = saved.loaded.global.size();
  });
}
