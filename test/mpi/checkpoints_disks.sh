#!/bin/bash
# checkpoints_disks.sh <command...>: runs the command with LAPSE_TEST_DISK naming a new file system of 4 MB.
# Exits with 77 if none can be mounted.
set -u
directory=$(mktemp -d)
trap 'rmdir "$directory"' EXIT
namespace=(unshare --mount)
[[ $(id -u) -eq 0 ]] || namespace=(unshare --user --map-root-user --mount)
"${namespace[@]}" mount -t tmpfs tmpfs "$directory" || {
  echo "SKIPPED: no file system can be mounted here"
  exit 77
}
export LAPSE_TEST_DISK=$directory
# In a user namespace the ranks run as root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# shellcheck disable=SC2016
"${namespace[@]}" sh -c 'mount -t tmpfs -o size=4m tmpfs "$LAPSE_TEST_DISK" && exec "$@"' sh "$@"
