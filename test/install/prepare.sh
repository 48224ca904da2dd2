# Sourced by the tests of an installation: takes the arguments <build folder> <sources of programs> <compiler>
# <launcher ...>, makes a temporary folder, and clears variables through which the caller's environment would
# be found.
build=$1
sources=$2
compiler=$3
shift 3
launcher=("$@")
if [[ $(id -u) -eq 0 ]]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset CPATH CPLUS_INCLUDE_PATH LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH

fail() {
  echo "wrong: $*" >&2
  exit 1
}
