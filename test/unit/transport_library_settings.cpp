// What is set for which MPI library.
#include "lapse/transport/mpi/library_settings.hpp"

#include <map>
#include <string>
#include <string_view>

#include "lapse/transport/mpi/library_of_build.hpp"
#include "test/support/catch.hpp"

namespace {

using Settings = std::map<std::string, std::string>;

Settings settings_of(std::string_view version_text) {
  Settings settings;
  for (const auto& [variable, value] : lapse::settings_of_library(version_text)) settings[variable] = value;
  return settings;
}

}  // namespace

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

TEST_CASE("nothing is set for other MPI libraries") {
  for (const char* text :
       {"", "Open MPI", "Open MPI v", "Open MPI vnext",
        "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022\nMPICH Device:\tch4:ofi\n",
        "Intel(R) MPI Library 2021.10 for Linux* OS\n",
        "MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Release date :\tWed March 02 22:00:00 EST 2022\n",
        "MPI VERSION    : CRAY MPICH version 8.1.2.3 (ANL base 3.4a2)\n"}) {
    CHECK(settings_of(text).empty());
  }
}

TEST_CASE("libraries that share their handles are of one family") {
  using lapse::MpiFamily;
  CHECK(lapse::family_of_library("Open MPI v4.1.4, package: Debian OpenMPI") == MpiFamily::open_mpi);
  for (const char* text : {"MPICH Version:\t4.0.2\n", "Intel(R) MPI Library 2021.10 for Linux* OS\n",
                           "MVAPICH2 Version      :\t2.3.7\n",
                           "MPI VERSION    : CRAY MPICH version 8.1.2.3 (ANL base 3.4a2)\n"}) {
    INFO(text);
    CHECK(lapse::family_of_library(text) == MpiFamily::mpich);
  }
  CHECK(lapse::family_of_library("My MPI 1.0") == MpiFamily::unknown);
}

TEST_CASE("no setting names a component that may be missing") {
  for (const char* text : {"Open MPI v4.1.4, package", "Open MPI v5.0.7, package"}) {
    for (const auto& [variable, value] : settings_of(text)) {
      INFO(variable << '=' << value);
      CHECK((variable != "OMPI_MCA_osc" || value.starts_with("^")));
    }
  }
}
