#include "lapse/protocol/host/protocol_module.hpp"

#include "lapse/core/error.hpp"

namespace lapse {

void ProtocolModule::handle_submission(Submission&) {
  throw ProtocolError("a submission to a part of the protocol that takes none");
}

}  // namespace lapse
