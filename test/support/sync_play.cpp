#include "test/support/sync_play.hpp"

#include "lapse/ps/access/worker_core.hpp"

namespace lapse::test {

void SyncPlay::begin() {
  if (live_ == nullptr) {
    worker_.wait_sync();
  } else {
    stage_ = Stage::own_operations;
  }
}

bool SyncPlay::may_step() const {
  return stage_ == Stage::own_operations ? worker_.core().has_answers() : worker_.core().synced();
}

std::string SyncPlay::step() {
  if (stage_ == Stage::own_operations) {
    sync_ = live_->sync_called(worker_.index());
    worker_.core().begin_sync();
    stage_ = Stage::requested;
    return "waits for copies";
  }
  worker_.core().end_sync();
  live_->synced(*sync_, domain_);
  stage_ = Stage::none;
  return "has waited for copies";
}

}  // namespace lapse::test
