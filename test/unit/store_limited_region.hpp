// Regions that refuse memory when a test asks for it.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "lapse/store/memory/region.hpp"

namespace lapse::test {

// Grants regions until `reserve_limit` bytes have been requested, and commits until `commit_limit` bytes of
// all regions together.
class LimitedRegionAllocator final : public RegionAllocator {
 public:
  explicit LimitedRegionAllocator(std::size_t commit_limit = ~std::size_t{0},
                                  std::size_t reserve_limit = ~std::size_t{0})
      : commit_limit_(commit_limit), reserve_limit_(reserve_limit) {}

  std::unique_ptr<Region> reserve(std::size_t bytes) override {
    if (bytes > reserve_limit_) return nullptr;
    reserve_limit_ -= bytes;
    return std::make_unique<LimitedRegion>(*this, real_.reserve(bytes));
  }

  std::size_t committed_bytes() const { return committed_; }
  void set_commit_limit(std::size_t bytes) { commit_limit_ = bytes; }

 private:
  class LimitedRegion final : public Region {
   public:
    LimitedRegion(LimitedRegionAllocator& owner, std::unique_ptr<Region> real)
        : owner_(owner), real_(std::move(real)) {}
    std::byte* base() const override { return real_->base(); }
    std::size_t capacity_bytes() const override { return real_->capacity_bytes(); }
    bool commit(std::size_t offset, std::size_t bytes) override {
      if (owner_.committed_ + bytes > owner_.commit_limit_ || !real_->commit(offset, bytes)) return false;
      owner_.committed_ += bytes;
      return true;
    }

   private:
    LimitedRegionAllocator& owner_;
    std::unique_ptr<Region> real_;
  };

  PrivateRegionAllocator real_;
  std::size_t commit_limit_;
  std::size_t reserve_limit_;
  std::size_t committed_ = 0;
};

}  // namespace lapse::test
