#include "lapse/python/attachment.hpp"

#include <exception>
#include <string>
#include <utility>

namespace lapse::python {

// One of the two is set.
struct AttachedHere {
  std::unique_ptr<AttachedWorker> plain = {};
  std::unique_ptr<adapm::AttachedIntentWorker> managed = {};
  std::optional<WorkerScope> scope = {};

  // Call it without the interpreter's lock. `failure`: empty if the worker has not failed.
  void end(const std::string& failure) {
    managed ? end(*managed, failure) : end(*plain, failure);
    managed.reset();
    plain.reset();
  }

 private:
  template <class W>
  static void end(W& worker, const std::string& failure) {
    failure.empty() ? worker.detach() : worker.fail(std::make_exception_ptr(Error(failure)));
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
  const auto here = std::make_shared<AttachedHere>();
  {
    const py::gil_scoped_release released;
    if (server_->manager) {
      here->managed = std::make_unique<adapm::AttachedIntentWorker>(server_->manager->attach(place_));
    } else {
      here->plain = std::make_unique<AttachedWorker>(server_->own->attach(place_));
    }
  }
  here->managed ? here->scope.emplace(server_, **here->managed) : here->scope.emplace(server_, **here->plain);
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
