// Whether this host has a network adapter that reaches into the memory of others by itself.
#pragma once

#include <filesystem>

namespace lapse {

// True if some device in `folder`, where the kernel lists such adapters (Infiniband, RoCE, Omni-Path, EFA),
// has an active port. Never throws: what cannot be read is not there.
bool has_active_rdma_port(const std::filesystem::path& folder = "/sys/class/infiniband");

}  // namespace lapse
