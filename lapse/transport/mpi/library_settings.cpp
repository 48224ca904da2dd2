#include "lapse/transport/mpi/library_settings.hpp"

#include <array>
#include <charconv>
#include <optional>

namespace lapse {

namespace {

constexpr std::array kUpToVersion4{EnvironmentSetting{"OMPI_MCA_osc", "^rdma"},
                                   EnvironmentSetting{"OMPI_MCA_btl_vader_eager_limit", "32768"}};
constexpr std::array kFromVersion5{EnvironmentSetting{"OMPI_MCA_btl_sm_eager_limit", "32768"}};

// 4 of "Open MPI v4.1.4, package: …"; nothing for other libraries.
std::optional<int> major_version_of_open_mpi(std::string_view text) {
  constexpr std::string_view kBegin = "Open MPI v";
  if (!text.starts_with(kBegin)) return std::nullopt;
  text.remove_prefix(kBegin.size());
  int major = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), major).ec != std::errc()) return std::nullopt;
  return major;
}

}  // namespace

std::span<const EnvironmentSetting> settings_of_library(std::string_view version_text) {
  const std::optional<int> major = major_version_of_open_mpi(version_text);
  if (!major) return {};
  if (*major < 5) return kUpToVersion4;
  return kFromVersion5;
}

}  // namespace lapse
