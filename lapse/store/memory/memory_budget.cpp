#include "lapse/store/memory/memory_budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/store/memory/available_memory.hpp"

namespace lapse {

class MemoryBudget::Account {
 public:
  Account(std::string owner_label, std::optional<std::uint64_t> limit_bytes,
          std::shared_ptr<UncheckedMemory> unchecked)
      : owner_label_(std::move(owner_label)), limit_bytes_(limit_bytes), unchecked_(std::move(unchecked)) {}

  void charge(std::uint64_t bytes) {
    if (limit_bytes_ && committed_bytes_ + bytes > *limit_bytes_) {
      throw OutOfMemory(
          fmt::format("{} would need {} bytes more than the {} that it takes: its memory limit is {} bytes",
                      owner_label_, bytes, committed_bytes_, *limit_bytes_));
    }
    unchecked_->bytes += bytes;
    if (unchecked_->bytes >= kCheckBytes) check_machine(bytes);
    committed_bytes_ += bytes;
  }
  // Returns charged bytes that could not be committed. Throws if the machine lacks memory.
  void refund(std::uint64_t bytes) {
    committed_bytes_ -= bytes;
    check_machine(bytes);
  }
  const std::string& owner_label() const { return owner_label_; }

 private:
  // Reading the available memory costs as much as committing 256 KiB.
  static constexpr std::uint64_t kCheckBytes = kReserveBytes / 16;

  void check_machine(std::uint64_t bytes) {
    unchecked_->bytes = 0;
    const AvailableMemory available = available_for_reserved_memory();
    if (available.bytes < bytes + kReserveBytes) {
      throw OutOfMemory(fmt::format(
          "{} takes {} bytes and needs {} more: {} leaves only {} bytes, of which {} are kept free",
          owner_label_, committed_bytes_, bytes, available.bound, available.bytes, kReserveBytes));
    }
  }

  std::string owner_label_;
  std::optional<std::uint64_t> limit_bytes_;
  std::uint64_t committed_bytes_ = 0;
  std::shared_ptr<UncheckedMemory> unchecked_;
};

namespace {

template <class Account>
class BudgetedRegion : public Region {
 public:
  BudgetedRegion(std::unique_ptr<Region> inner, std::shared_ptr<Account> account)
      : inner_(std::move(inner)), account_(std::move(account)) {}

  std::byte* base() const override { return inner_->base(); }
  std::size_t capacity_bytes() const override { return inner_->capacity_bytes(); }
  bool commit(std::size_t offset, std::size_t bytes) override {
    const std::uint64_t charged = std::min(bytes, inner_->capacity_bytes() - offset);
    account_->charge(charged);
    if (inner_->commit(offset, bytes)) return true;
    account_->refund(charged);
    return false;
  }

 private:
  std::unique_ptr<Region> inner_;
  std::shared_ptr<Account> account_;
};

}  // namespace

MemoryBudget::MemoryBudget(RegionAllocator& inner, std::string owner_label,
                           std::optional<std::uint64_t> limit_bytes,
                           std::shared_ptr<UncheckedMemory> unchecked)
    : inner_(inner),
      account_(std::make_shared<Account>(std::move(owner_label), limit_bytes, std::move(unchecked))) {}

std::string MemoryBudget::whose() const {
  return account_->owner_label();
}

std::unique_ptr<Region> MemoryBudget::reserve(std::size_t bytes) {
  std::unique_ptr<Region> region = inner_.reserve(bytes);
  if (!region) return nullptr;
  return std::make_unique<BudgetedRegion<Account>>(std::move(region), account_);
}

}  // namespace lapse
