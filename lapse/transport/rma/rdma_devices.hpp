// Whether this host has a network adapter with remote memory access.
#pragma once

#include <filesystem>

namespace lapse {

// True if a device in `folder`, where the kernel lists such adapters (Infiniband, RoCE, Omni-Path, EFA), has
// an active port. Never throws: what cannot be read counts as absent.
bool has_active_rdma_port(const std::filesystem::path& folder = "/sys/class/infiniband");

}  // namespace lapse
