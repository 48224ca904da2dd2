#include "lapse/jobs/checkpoints_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"
#include "lapse/checkpoint/durable_file.hpp"
#include "lapse/core/process/library_thread.hpp"
#include "lapse/ps/foreign_table.hpp"

namespace lapse {

namespace {

// Maps "run", "run/" and a link to it to one path.
std::string normal_path(const std::string& path) {
  std::error_code error;
  std::filesystem::path normal = std::filesystem::weakly_canonical(path, error);
  if (error) normal = std::filesystem::absolute(path).lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).string();
}

}  // namespace

Checkpoints::Impl::Impl(ParameterServer& server, CheckpointSettings settings)
    : server_(server),
      settings_(std::move(settings)),
      folder_(settings_.folder),
      files_(server.options().checkpoint_files, server.hosts()),
      host_(server.rank(), server.hosts()),
      staging_(host_.ranks, fmt::format("checkpoints on rank {}", server.rank().value())) {
  const auto refuse = [&](std::string_view problem) {
    throw UsageError(fmt::format("settings of checkpoints on rank {}: {}", server_.rank().value(), problem));
  };
  if (settings_.folder.empty()) refuse("the folder has no name");
  if (settings_.keep && *settings_.keep == 0) refuse("a checkpoint that is saved must be kept: keep is 0");
  if (has_local_folder() && normal_path(settings_.folder) == normal_path(settings_.local_folder))
    refuse("the local folder is the folder of all ranks");
}

void Checkpoints::Impl::check(std::string_view call) const {
  if (is_left()) process_.refuse(fmt::format("{} of checkpoints on rank {}", call, server_.rank().value()));
}

void Checkpoints::Impl::add(const TableHandle& table, const std::string& name) {
  check("add");
  if (save_)
    throw UsageError(
        fmt::format("a save_async is in progress on rank {}: call finish()", server_.rank().value()));
  if (table.server() != server_.identity())
    throw UsageError(fmt::format("checkpoints on rank {} were given '{}', {}", server_.rank().value(), name,
                                 foreign_table(table.server())));
  for (const CheckpointTable& other : tables_)
    if (other.name() == name)
      throw UsageError(
          fmt::format("checkpoints have a table '{}' already, on rank {}", name, server_.rank().value()));
  tables_.emplace_back(table, name);
}

void Checkpoints::Impl::report_unfinished() const noexcept {
  if (!save_ || !is_first_rank() || std::uncaught_exceptions() > 0) return;
  log().warning("folder '{}': the last checkpoint is not finished there, as finish() was not called",
                folder_.path());
}

std::string Checkpoints::Impl::call_text(const CheckpointFolder& folder, const std::string& step) const {
  std::string text = fmt::format("folder '{}', {} local folder, {}, tables", folder.path(),
                                 has_local_folder() ? "a" : "no", step);
  for (const CheckpointTable& table : tables_)
    text += fmt::format(" '{}' ({})", table.name(), table.handle().id().value());
  return text;
}

void Checkpoints::Impl::lock() {
  join_cleaner();
  const auto take = [this](std::unique_ptr<FolderLock>& lock, const std::string& folder) {
    if (lock && lock->is_in_place()) return false;
    if (lock) {
      renew(*lock, folder);
    } else {
      make_folder(folder);
      lock = std::make_unique<FolderLock>(folder);
    }
    if (!lock->warning().empty()) log().warning("{}", lock->warning());
    return true;
  };
  if (is_first_rank() && take(lock_, folder_.path()))
    last_order_ = std::max(last_order_, folder_.latest().order);
  if (local() && host_.index == 0) take(local_lock_, settings_.local_folder);
}

void Checkpoints::Impl::renew(FolderLock& lock, const std::string& folder) {
  std::error_code error;
  log().warning("folder '{}' {}", folder,
                std::filesystem::exists(folder, error)
                    ? "was replaced while the job ran, or has lost its file 'lock': it is locked again"
                    : "was removed while the job ran: it is made anew, without the checkpoints that it had");
  make_folder(folder);
  lock.renew();
}

Logger Checkpoints::Impl::log() const {
  return Logger(server_.rank(), server_.options().log_level);
}

std::optional<LocalCheckpoints> Checkpoints::Impl::local() const {
  if (settings_.local_folder.empty()) return std::nullopt;
  return LocalCheckpoints(settings_.local_folder);
}

// --- saving

Checkpoints::Impl::Beginning Checkpoints::Impl::beginning(std::uint64_t step, Writing writing) {
  const std::string arguments = fmt::format("step {}, keep {}, {}", step, settings_.keep.value_or(0),
                                            writing == Writing::at_once ? "save" : "save_async");
  lock();
  Beginning beginning{.text = call_text(folder_, arguments), .checkpoint = new_checkpoint_number()};
  if (!is_first_rank()) return beginning;
  last_order_ = CheckpointFolder::next_order(last_order_);
  beginning.run = lock_->number();
  beginning.order = last_order_;
  return beginning;
}

void Checkpoints::Impl::begin(std::uint64_t step, const CheckpointContent& content, Writing writing) {
  finish();
  CheckpointAgreement agreement(server_, "save_checkpoint");
  const std::vector<Beginning> beginnings = agreement.exchange([&] { return beginning(step, writing); });
  std::vector<std::string> texts;
  texts.reserve(beginnings.size());
  for (const Beginning& one : beginnings) texts.push_back(one.text);
  agreement.require_equal(texts);
  CheckpointSave::Request request{.folder = folder_,
                                  .step = step,
                                  .checkpoint = beginnings[0].checkpoint,
                                  .run = beginnings[0].run,
                                  .order = beginnings[0].order,
                                  .rank = server_.rank(),
                                  .ranks = server_.ranks(),
                                  .content = content,
                                  .keep = settings_.keep,
                                  .expect_finite = settings_.expect_finite,
                                  .local = local(),
                                  .first_of_host = host_.index == 0,
                                  .abandoned = abandoned_,
                                  .doubtful = doubtful_};
  std::unique_ptr<CheckpointSave> save;
  const bool in_background = writing == Writing::in_background;
  const std::vector<std::uint64_t> bytes = agreement.exchange([&] {
    prepare_local_folder(beginnings[0].run);
    save = std::make_unique<CheckpointSave>(std::move(request), tables_, in_background ? &staging_ : nullptr);
    return save->bytes();
  });
  const CheckpointSave::Place place{.file = files_.file(server_.rank()),
                                    .files = files_.files(),
                                    .offset = files_.offset(server_.rank(), bytes)};
  save_ = std::move(save);
  if (!in_background && !local()) return agreement.run([&] { save_->write(place); });
  save_->write_in_background(place);
  if (!in_background && !wait_until_staged(agreement, *save_)) finish();  // Throws the failure.
}

bool Checkpoints::Impl::wait_until_staged(CheckpointAgreement& agreement, const CheckpointSave& save) {
  const std::vector<int> staged = agreement.exchange([&] { return save.wait_until_staged() ? 1 : 0; });
  return std::ranges::find(staged, 0) == staged.end();
}

void Checkpoints::Impl::finish() {
  if (!save_) return;
  std::unique_ptr<CheckpointSave> save = std::move(save_);
  CheckpointAgreement agreement(server_, "save_checkpoint");
  std::vector<SavedPart> parts;
  std::exception_ptr failure;
  try {
    parts = agreement.exchange([&] { return save->part(); });
  } catch (const CollectiveMismatch&) {
    save->discard();
    throw;  // Other ranks make another call.
  } catch (const PeerFailed&) {
    save->discard();
    throw;
  } catch (const Error&) {
    // Every rank has this error.
    failure = std::current_exception();
  }
  if (failure) agreement.run([&] { save->discard(); });
  if (local()) {
    const bool staged = wait_until_staged(agreement, *save);
    const std::vector<int> healthy = agreement.exchange([&] { return save->healthy() ? 1 : 0; });
    const bool all_healthy = std::ranges::find(healthy, 0) == healthy.end();
    agreement.run([&] { save->keep_or_discard_local(staged, all_healthy); });
  }
  if (failure) agreement.throw_everywhere(failure);
  agreement.run([&] {
    if (!is_first_rank()) return;
    try {
      lock();  // Since the save began, the folder may have been removed, and made anew by a rank that wrote.
      for (const std::string& warning : save->commit(parts)) log().warning("{}", warning);
    } catch (...) {
      save->discard(parts);
      throw;
    }
  });
  if (is_first_rank() || (local() && host_.index == 0)) remove_in_background(std::move(save));
}

void Checkpoints::Impl::prepare_local_folder(std::uint64_t run) const {
  if (!local() || host_.index != 0) return;
  local()->list(run, folder_.path());
  local()->remove_left_overs();
}

void Checkpoints::Impl::remove_in_background(std::unique_ptr<CheckpointSave> save) {
  const std::shared_ptr<const CheckpointSave> of_thread = std::move(save);
  try {
    cleaner_ =
        start_library_thread<std::jthread>("lapse-clean", [of_thread] { of_thread->remove_left_overs(); });
  } catch (const std::system_error&) {
    of_thread->remove_left_overs();
  }
}

}  // namespace lapse
