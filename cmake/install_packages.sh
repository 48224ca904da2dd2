#!/bin/bash
# install_packages.sh <build|test|fuzz>: makes sure that the Debian packages are there which building needs (build), building
# and testing (test), or building the fuzzers (fuzz). Installs the missing ones where it may, else says which they are and exits with 2.
set -euo pipefail

packages=(build-essential cmake ninja-build libopenmpi-dev openmpi-bin libhwloc-dev libboost-serialization-dev
  libfmt-dev libcli11-dev libopenblas-serial-dev zlib1g-dev liblzma-dev libzstd-dev
  libcpp-httplib-dev libxxhash-dev nlohmann-json3-dev catch2 pkg-config python3)
case "${1:-}" in
  build) ;;
  test)
    packages+=(ccache clang clang-format clang-tidy doxygen gdb gfortran iproute2 libhdf5-dev libhdf5-openmpi-dev
      libhypre-dev libmetis-dev libomp-dev libpetsc-real-dev libpmix-dev munge pybind11-dev python3-dev python3-h5py python3-mpi4py
      python3-numpy python3-torch python3-xxhash slurm-client slurmctld slurmd spin strace)
    ;;
  fuzz) packages+=(ccache clang libclang-rt-14-dev) ;;
  *)
    echo "usage: $0 <build|test|fuzz>" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "This is no Debian system: the packages are not checked. Needed are what Debian calls ${packages[*]}."
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! sudo -n true 2>/dev/null; then
    echo "These packages are missing: ${missing[*]}" >&2
    echo "Install them with: sudo apt-get update && sudo apt-get install --yes ${missing[*]}" >&2
    exit 2
  fi
  as_root=(sudo -n)
fi
echo "Installing ${missing[*]}"
if ! { "${as_root[@]}" apt-get update --quiet=2 &&
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet=2 --no-install-recommends "${missing[@]}"; }; then
  echo "The installation failed. Install these packages by hand: ${missing[*]}" >&2
  exit 2
fi
