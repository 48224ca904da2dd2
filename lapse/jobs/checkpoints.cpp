#include "lapse/jobs/checkpoints.hpp"

#include <utility>

#include "lapse/core/tracing/timed_region.hpp"
#include "lapse/jobs/checkpoints_impl.hpp"

namespace lapse {

Checkpoints::Checkpoints(ParameterServer& server, CheckpointSettings settings)
    : impl_(std::make_unique<Impl>(server, std::move(settings))) {}
Checkpoints::~Checkpoints() {
  // In a child, the threads that write and remove files belong to the parent.
  if (impl_->is_left()) {
    leave_to_parent(impl_);
  } else {
    impl_->report_unfinished();
  }
}

void Checkpoints::add(const TableHandle& table, const std::string& name) {
  impl_->add(table, name);
}

void Checkpoints::save(std::uint64_t step, const CheckpointContent& content) {
  impl_->check("save");
  const TimedRegion region("lapse checkpoint save");
  impl_->begin(step, content, Impl::Writing::at_once);
  if (!impl_->has_local_folder()) impl_->finish();
}

void Checkpoints::save_async(std::uint64_t step, const CheckpointContent& content) {
  impl_->check("save_async");
  const TimedRegion region("lapse checkpoint save_async");
  impl_->begin(step, content, Impl::Writing::in_background);
}

bool Checkpoints::staged() const {
  impl_->check("staged");
  return impl_->staged();
}

bool Checkpoints::done() const {
  impl_->check("done");
  return impl_->done();
}

void Checkpoints::finish() {
  impl_->check("finish");
  const TimedRegion region("lapse checkpoint finish");
  impl_->finish();
}

void Checkpoints::release_memory() {
  impl_->check("release_memory");
  impl_->release_memory();
}

LoadedCheckpoint Checkpoints::load(const LoadRequest& request) {
  impl_->check("load");
  const TimedRegion region("lapse checkpoint load");
  return impl_->load(request);
}

}  // namespace lapse
