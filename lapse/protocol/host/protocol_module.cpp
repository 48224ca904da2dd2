#include "lapse/protocol/host/protocol_module.hpp"

#include "lapse/core/error.hpp"

namespace lapse {

void ProtocolModule::handle_submission(Submission&) {
  throw ProtocolError("a submission to a module that takes none");
}

}  // namespace lapse
