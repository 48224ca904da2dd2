// Which variables of the environment make which MPI library work well.
#pragma once

#include <span>
#include <string_view>

namespace lapse {

struct EnvironmentSetting {
  const char* variable;
  const char* value;
};

// The settings for the library with this text of MPI_Get_library_version; none for a library that is not
// Open MPI.
//
// No value names a component of Open MPI, because MPI_Init fails when a list has one that this build of Open
// MPI lacks; the form that excludes (^) accepts missing ones.
//   up to version 4   osc without rdma, whose compare-and-swap crashes in 4.1; its other components work with
//                     MPI_THREAD_SERIALIZED, within hosts (sm) and between them (pt2pt, ucx). A list in the
//                     environment also replaces the one of Debian, which excludes pt2pt and ucx.
//   from version 5    osc as Open MPI chooses: pt2pt is gone, and rdma is what it has over TCP.
// The shared-memory transport, whose limit of eager messages is raised, is called vader up to version 4, then
// sm.
std::span<const EnvironmentSetting> settings_of_library(std::string_view version_text);

}  // namespace lapse
