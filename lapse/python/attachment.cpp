#include "lapse/python/attachment.hpp"

#include <exception>
#include <string>
#include <utility>

namespace lapse::python {

struct AttachedHere {
  explicit AttachedHere(auto attached) : worker(std::move(attached)) {}

  std::optional<std::variant<AttachedWorker, adapm::AttachedIntentWorker>> worker;  // null: it has ended
  std::optional<WorkerScope> scope = {};

  // Call it without the interpreter's lock. `failure`: empty if the worker has not failed.
  void end(const std::string& failure) {
    std::visit(
        [&](auto& ending) {
          failure.empty() ? ending.detach() : ending.fail(std::make_exception_ptr(Error(failure)));
        },
        *worker);
    worker.reset();
  }
};

Attachment::Attachment(SharedServer server, std::optional<std::size_t> place)
    : server_(std::move(server)), place_(place) {}

Attachment::~Attachment() {
  if (!here_) return;
  here_->scope->state()->is_left = true;
  server_->left.push_back(std::move(here_));
  (void)PyErr_WarnEx(PyExc_ResourceWarning,
                     "an attached worker was not detached, and keeps its place until the next attach or "
                     "stop_progress: use it in a with block",
                     1);
  PyErr_Clear();
}

SharedWorker Attachment::enter() {
  if (here_) throw UsageError("this thread is attached already");
  end_left(*server_);
  const auto here = unlocked([&] {
    return server_->manager ? std::make_shared<AttachedHere>(server_->manager->attach(place_))
                            : std::make_shared<AttachedHere>(server_->own->attach(place_));
  });
  std::visit([&](auto& attached) { here->scope.emplace(server_, *attached); }, *here->worker);
  here_ = here;
  return here_->scope->state();
}

void Attachment::exit(const py::object& type, const py::object& value, const py::object&) {
  const std::shared_ptr<AttachedHere> here = std::exchange(here_, nullptr);
  if (!here) throw UsageError("this worker is not attached: use it in a with block");
  here->scope.reset();
  if (!type.is_none()) server_->raised.keep(value);
  const std::string failure = type.is_none() ? std::string() : text_of(value);
  const py::gil_scoped_release released;
  here->end(failure);
}

void Attachment::end_left(ServerState& server) {
  while (!server.left.empty()) {
    const std::shared_ptr<AttachedHere> here = std::move(server.left.back());
    server.left.pop_back();
    here->scope.reset();
    const py::gil_scoped_release released;
    try {
      here->end("");
    } catch (const PeerFailed&) {  // the end of the phase reports it
    }
  }
}

}  // namespace lapse::python
