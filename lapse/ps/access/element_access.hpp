// Pull and push of single elements in this rank's memory.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/protocol/worker/worker_endpoint.hpp"
#include "lapse/ps/access/access_request.hpp"
#include "lapse/ps/access/local_access.hpp"
#include "lapse/store/row_elements.hpp"

namespace lapse {

// Processes the pairs of one call in order, run by run: carries out what memory allows and returns the rest.
// Counts one access for each run.
//
// Thread safety: the worker's thread.
class ElementAccess {
 public:
  // `rank`: the worker's, for errors. The arguments outlive the object.
  ElementAccess(TableShard& table, const ElementPairs& pairs, const AccessRequest& request,
                const LocalAccess::Counts& counts, Rank rank)
      : table_(table),
        elements_(table.store()),
        pairs_(pairs),
        request_(request),
        element_bytes_(element_bytes(table.sizes().layout().type)),
        reach_(table.reach(request.operation)),
        counts_(counts),
        rank_(rank) {}

  // Carries out the leading runs, while their keys are local and no code of the application is needed.
  // Requires: the worker has no unanswered operation.
  void carry_out_leading();
  // Carries out the other runs. Calls undone(run) for each whose key is not local, is leased, or has an
  // unanswered operation; that must make the key unanswered.
  template <class Undone>
  void carry_out_rest(WorkerEndpoint& endpoint, Undone&& undone) {
    while (!at_end()) {
      const std::size_t end = pairs_.end_of_run(next_);
      Store::Word* const word = table_.store().find(next_key());
      if (!endpoint.may_access_memory(table_, next_key(), word) || !carry_out(word, end)) undone(next_, end);
      next_ = end;
    }
  }
  bool at_end() const { return next_ == pairs_.size(); }
  // The number of the next pair, and its key. If undone has thrown, those that were tried.
  std::size_t next() const { return next_; }
  Key next_key() const { return pairs_.key(next_); }
  // The first failure of the application's code, if any. Its key counts as done.
  const std::optional<UserCodeFailed>& failure() const { return failure_; }

 private:
  // Accesses the run that ends before this pair. Returns false if its key is not local.
  bool carry_out(Store::Word* word, std::size_t end);
  // Pushes to the leading runs whose keys are local.
  RowElements::Done push_leading() const;
  bool read_uninitialized(const ElementRun& run, std::byte* to);
  void push(std::byte* slot, std::size_t first, std::size_t end) const;

  TableShard& table_;
  const RowElements elements_;
  const ElementPairs& pairs_;
  const AccessRequest& request_;
  const std::size_t element_bytes_;
  const Store::Reach reach_;
  const LocalAccess::Counts counts_;
  const Rank rank_;
  std::size_t next_ = 0;
  std::vector<std::byte> value_;  // of an uninitialized key
  std::optional<UserCodeFailed> failure_;
};

}  // namespace lapse
