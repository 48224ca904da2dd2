#include "lapse/core/thread_name.hpp"

#include <pthread.h>

#include <cstddef>

namespace lapse {

void name_thread(const std::string& name) {
  constexpr std::size_t kMaxCharacters = 15;  // Linux: 16 with the 0.
  pthread_setname_np(pthread_self(), name.substr(0, kMaxCharacters).c_str());
}

}  // namespace lapse
