// Routes operations on keys. Pure decisions; docs/relocation.md explains their rules, docs/model/README.md
// numbers them.
#pragma once

#include <cstdint>
#include <optional>

#include "lapse/core/role_table.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// A rank's knowledge of a key at the moment of a decision: from its engine if it serves the key, otherwise
// from the memory that it shares with the serving rank.
struct KeyView {
  DirectAccess direct = DirectAccess::nothing;  // what this rank may access in its domain's memory
  Handling handling = Handling::forward;        // what the domain's serving rank does with an operation
  Domain home;
  Domain self;
  Domain owner_by_table;       // meaningful at the home only
  std::optional<Domain> hint;  // cached location; empty when caches are off
  bool serves = true;          // this rank serves the key

  bool at_home() const { return home == self && serves; }
  // Neither accessed nor awaited here (Router::route_absent).
  bool is_absent() const {
    return direct == DirectAccess::nothing && handling == Handling::forward &&
           !(at_home() && owner_by_table == self);
  }
};

// A worker's operations in flight on a key: the entry of its unanswered operations pins its route.
struct Pin {
  std::uint32_t unanswered = 0;
  // Where the unanswered operations entered: at a cached location; nullopt: executed or queued on this rank,
  // or sent to the home. On a rank that does not serve the key: the domain that they were sent to, cached or
  // home.
  std::optional<Domain> entry;
  bool redirected = false;  // an answer has shown a shorter route than by the entry
  bool holds = false;       // operations are held: what the worker submits later waits too
};

struct Route {
  enum class Action : std::uint8_t {
    execute,  // on this rank, at once
    queue,    // until the key arrives
    send,     // to the serving rank of `to`
    hold,     // until the worker's unanswered operations on the key are answered, or its held ones submitted
    illegal,  // a state that the protocol excludes
  };
  // Large enough to be returned in memory as it was written. In registers it would be written in pieces and
  // read as a whole, which stalls the processor longer than a decision takes.
  alignas(8) Action action = Action::illegal;
  alignas(8) Domain to;
  alignas(8) bool by_home = false;  // the sender is the home and routed by its table
  bool is_entry = false;            // `to` is the entry of the worker's operations from now on

  static Route execute() { return {Action::execute, {}, false, false}; }
  static Route queue() { return {Action::queue, {}, false, false}; }
  static Route hold() { return {Action::hold, {}, false, false}; }
  static Route illegal() { return {}; }
  static Route send_to_home(Domain home) { return {Action::send, home, false, false}; }
  static Route send_by_home(Domain owner) { return {Action::send, owner, true, false}; }
  static Route send_to_entry(Domain location) { return {Action::send, location, false, true}; }
};

// Guarantees:
// 1. All operations of a worker on a key that are unanswered at one time took the same route (entry rule), so
//    they arrive in program order (I3, I4).
// 2. The home routes only by its table; its own role decides only if it is the owner itself.
// 3. Every other domain forwards only to the home: at most two hops without caches, three with.
class Router {
 public:
  virtual ~Router() = default;
  // Routes an operation of a worker of this rank.
  virtual Route route_own(const KeyView& view, const Pin& pin) const;
  // Routes an operation received in a message; `by_home`: the home routed it here.
  virtual Route route_received(const KeyView& view, bool by_home) const;
  // Like route_own, for a key that is absent here and has no operation of the worker in flight.
  static Route route_absent(const KeyView& view) {
    if (!view.serves) return Route::send_to_entry(view.hint.value_or(view.home));
    if (view.at_home()) return Route::send_by_home(view.owner_by_table);
    // The home itself does not count as a cached location.
    if (view.hint && *view.hint != view.home) return Route::send_to_entry(*view.hint);
    return Route::send_to_home(view.home);
  }
  // Whether route_absent may decide instead of route_own.
  virtual bool routes_runs() const { return true; }
  // Whether an answer from `responder` shows a shorter route than by `entry`.
  static bool redirects(const KeyView& view, Domain entry, Domain responder);

 protected:
  static Route route_at_home(const KeyView& view);
  // Like the domain's serving rank handles it; illegal if it would have to forward.
  static Route route_in_domain(const KeyView& view);
  // For a worker of a rank that does not serve the key: it uses memory or sends, never queues.
  static Route route_beside(const KeyView& view);
};

}  // namespace lapse
