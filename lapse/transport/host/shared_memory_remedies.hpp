// Remedies if ranks of a host cannot share memory, by reason; for errors and warnings.
#pragma once

#include <string_view>

namespace lapse {

inline constexpr std::string_view kMoreSharedMemory =
    "give the shared memory file system more room (docker run --shm-size=…, mount -o remount,size=… "
    "/dev/shm)";
inline constexpr std::string_view kMoreAddresses =
    "raise the limit of a process's addresses (ulimit -v, or the batch system's limit of virtual memory)";

}  // namespace lapse
