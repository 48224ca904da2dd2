// Names of threads, as debuggers and top show them.
#pragma once

#include <string>

namespace lapse {

// Names the calling thread; what is behind 15 characters is cut off.
void name_thread(const std::string& name);

}  // namespace lapse
