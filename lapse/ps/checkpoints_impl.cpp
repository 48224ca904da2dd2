#include "lapse/ps/checkpoints_impl.hpp"

#include <fmt/format.h>

#include <boost/serialization/utility.hpp>
#include <exception>
#include <system_error>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"
#include "lapse/checkpoint/durable_file.hpp"

namespace lapse {

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
  if (settings_.folder == settings_.local_folder) refuse("the local folder is the folder of all ranks");
}

void Checkpoints::Impl::add(const TableHandle& table, const std::string& name) {
  if (save_)
    throw UsageError(
        fmt::format("a save_async is in progress on rank {}: call finish()", server_.rank().value()));
  for (const CheckpointTable& other : tables_)
    if (other.name() == name)
      throw UsageError(
          fmt::format("checkpoints have a table '{}' already, on rank {}", name, server_.rank().value()));
  tables_.emplace_back(table, name);
}

std::string Checkpoints::Impl::call_text(const CheckpointFolder& folder, const std::string& step) const {
  std::string text = fmt::format("folder '{}', {}, tables", folder.path(), step);
  for (const CheckpointTable& table : tables_)
    text += fmt::format(" '{}' ({})", table.name(), table.handle().id().value());
  return text;
}

void Checkpoints::Impl::lock() {
  if (cleaner_.joinable()) cleaner_.join();
  const auto take = [](std::unique_ptr<FolderLock>& lock, const std::string& folder) {
    if (lock) return;
    make_folder(folder);
    lock = std::make_unique<FolderLock>(folder);
  };
  if (is_first_rank()) take(lock_, folder_.path());
  if (local() && host_.index == 0) take(local_lock_, settings_.local_folder);
}

std::optional<LocalCheckpoints> Checkpoints::Impl::local() const {
  if (settings_.local_folder.empty()) return std::nullopt;
  return LocalCheckpoints(settings_.local_folder);
}

// --- saving

void Checkpoints::Impl::begin(std::uint64_t step, const CheckpointContent& content, Writing writing) {
  finish();
  CheckpointAgreement agreement(server_, "save_checkpoint");
  std::vector<std::string> texts;
  std::uint64_t checkpoint = 0;
  const auto begin_call = [&]() -> std::pair<std::string, std::uint64_t> {
    const std::string arguments = fmt::format("step {}, keep {}", step, settings_.keep.value_or(0));
    lock();
    return {call_text(folder_, arguments), new_checkpoint_number()};
  };
  for (const auto& [text, number] : agreement.exchange(begin_call)) {
    if (texts.empty()) checkpoint = number;
    texts.push_back(text);
  }
  agreement.require_equal(texts);
  CheckpointSave::Request request{.folder = folder_,
                                  .step = step,
                                  .checkpoint = checkpoint,
                                  .rank = server_.rank(),
                                  .ranks = server_.ranks(),
                                  .content = content,
                                  .keep = settings_.keep,
                                  .local = local(),
                                  .first_of_host = host_.index == 0};
  std::unique_ptr<CheckpointSave> save;
  const bool in_background = writing == Writing::in_background;
  const std::vector<std::uint64_t> bytes = agreement.exchange([&] {
    save = std::make_unique<CheckpointSave>(std::move(request), tables_, in_background ? &staging_ : nullptr);
    return save->bytes();
  });
  const CheckpointSave::Place place{.file = files_.file(server_.rank()),
                                    .files = files_.files(),
                                    .offset = files_.offset(server_.rank(), bytes)};
  save_ = std::move(save);
  if (in_background) return save_->write_in_background(place);
  if (!local()) return save_->write(place);
  save_->stage(place);
  try {
    agreement.run([&] { save_->throw_failure(); });
  } catch (...) {
    std::exchange(save_, nullptr)->discard();
    throw;
  }
  save_->flush_in_background();
}

void Checkpoints::Impl::finish() {
  if (!save_) return;
  std::unique_ptr<CheckpointSave> save = std::move(save_);
  CheckpointAgreement agreement(server_, "save_checkpoint");
  std::vector<SavedPart> parts;
  try {
    parts = agreement.exchange([&] { return save->part(); });
  } catch (...) {
    save->discard();
    throw;
  }
  agreement.run([&] {
    if (!is_first_rank()) return;
    try {
      save->commit(parts);
    } catch (...) {
      save->discard(parts);
      throw;
    }
  });
  if (is_first_rank() || (local() && host_.index == 0)) remove_in_background(std::move(save));
}

void Checkpoints::Impl::remove_in_background(std::unique_ptr<CheckpointSave> save) {
  const std::shared_ptr<const CheckpointSave> of_thread = std::move(save);
  try {
    cleaner_ = std::jthread([of_thread] { of_thread->remove_left_overs(); });
  } catch (const std::system_error&) {
    of_thread->remove_left_overs();
  }
}

}  // namespace lapse
