// The choices made for each MPI library.
#include "lapse/transport/mpi/library/mpi_library.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "test/support/catch.hpp"

using lapse::mpi_library_of;
using lapse::MpiFamily;
using lapse::MpiLibrary;
using lapse::MpiProduct;

namespace {

using Settings = std::map<std::string, std::string>;

Settings settings_of(std::string_view version_text) {
  Settings settings;
  for (const auto& [variable, value] : mpi_library_of(version_text).settings) settings[variable] = value;
  return settings;
}

struct KnownText {
  const char* text;
  MpiProduct product;
  std::optional<int> major;
};

constexpr KnownText kKnownTexts[] = {
    {"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022",
     MpiProduct::open_mpi, 4},
    {"MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022\nMPICH Device:\tch4:ofi\n",
     MpiProduct::mpich, 4},
    {"MPICH Version:      3.4a2\nMPICH ABI:\t12:0:0\n", MpiProduct::mpich, 3},
    {"Intel(R) MPI Library 2021.10 for Linux* OS\n", MpiProduct::intel_mpi, 2021},
    {"Intel(R) MPI Library 5.1.3 for Linux* OS\n", MpiProduct::intel_mpi, 5},
    {"MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Release date :\tWed March 02 22:00:00 EST 2022\nMVAPICH2 "
     "Device       :\tch3:mrail\n",
     MpiProduct::mvapich, 2},
    {"MVAPICH Version:\t3.0\nMVAPICH Release date:\t02/09/2024\nMVAPICH ABI:\t14:6:2\n", MpiProduct::mvapich,
     3},
    {"MPI VERSION    : CRAY MPICH version 8.1.2.3 (ANL base 3.4a2)\nMPI BUILD INFO : Tue Mar 10 (git hash "
     "1)\n",
     MpiProduct::cray_mpich, 8},
    {"", MpiProduct::unknown, std::nullopt},
    {"MPI by others 4.1.4", MpiProduct::unknown, std::nullopt},
    {"Open MPI", MpiProduct::unknown, std::nullopt},
    {"Open MPI v", MpiProduct::open_mpi, std::nullopt},
    {"Open MPI vnext", MpiProduct::open_mpi, std::nullopt},
};

}  // namespace

TEST_CASE("an MPI library is known by its text") {
  for (const KnownText& known : kKnownTexts) {
    INFO(known.text);
    const MpiLibrary library = mpi_library_of(known.text);
    CHECK(library.product == known.product);
    CHECK(library.major == known.major);
    MpiFamily family = MpiFamily::mpich;  // Libraries derived from MPICH share its handles.
    if (known.product == MpiProduct::open_mpi) family = MpiFamily::open_mpi;
    if (known.product == MpiProduct::unknown) family = MpiFamily::unknown;
    CHECK(library.family == family);
  }
}

TEST_CASE("what is particular to Open MPI is not for other MPI libraries") {
  for (const KnownText& known : kKnownTexts) {
    INFO(known.text);
    const MpiLibrary library = mpi_library_of(known.text);
    const bool is_open_mpi = known.product == MpiProduct::open_mpi;
    CHECK(library.settings.empty() == (!is_open_mpi || !known.major));
    CHECK(library.reserved_error_codes == (is_open_mpi || known.product == MpiProduct::unknown ? 0 : 1));
    CHECK(library.host_eager_limits.empty() != is_open_mpi);
    CHECK((library.network_eager_limit != nullptr) == is_open_mpi);
    CHECK((library.eager_header_bytes > 0) == is_open_mpi);
    CHECK((library.shared_folder_variable != nullptr) == is_open_mpi);
    CHECK((library.windows_remedy.find("Open MPI") != std::string_view::npos) == is_open_mpi);
    CHECK((library.shared_windows_remedy.find("Open MPI") != std::string_view::npos) == is_open_mpi);
  }
}

TEST_CASE("Open MPI up to version 4 works without osc/rdma") {
  const Settings expected{{"OMPI_MCA_osc", "^rdma"}, {"OMPI_MCA_btl_vader_eager_limit", "32768"}};
  for (const char* text :
       {"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022",
        "Open MPI v4.1.7a1, package: Open MPI root@hpc-kernel-03 Distribution, ident: 4.1.7a1, repo rev: "
        "v4.1.5-115-g41676a1, Unreleased developer copy",
        "Open MPI v4.0.3, package: Debian OpenMPI, ident: 4.0.3, repo rev: v4.0.3, Mar 03, 2020",
        "Open MPI v3.1.3, package: Debian OpenMPI, ident: 3.1.3, repo rev: v3.1.3, Oct 29, 2018"}) {
    CHECK(settings_of(text) == expected);
  }
}

TEST_CASE("Open MPI from version 5 on chooses its windows itself") {
  const Settings expected{{"OMPI_MCA_btl_sm_eager_limit", "32768"}};
  for (const char* text :
       {"Open MPI v5.0.7, package: Debian OpenMPI, ident: 5.0.7, repo rev: v5.0.7, Feb 14, 2025",
        "Open MPI v5.0.0rc12, package: Open MPI user@host Distribution, ident: 5.0.0rc12, repo rev: "
        "v5.0.0rc12, May 19, 2023",
        "Open MPI v10.0.0, package: Open MPI user@host Distribution, ident: 10.0.0"}) {
    CHECK(settings_of(text) == expected);
  }
}

TEST_CASE("no setting names a component that may be missing") {
  for (const char* text : {"Open MPI v4.1.4, package", "Open MPI v5.0.7, package"}) {
    for (const auto& [variable, value] : settings_of(text)) {
      INFO(variable << '=' << value);
      CHECK((variable != "OMPI_MCA_osc" || value.starts_with("^")));
    }
  }
}
