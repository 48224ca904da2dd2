#!/bin/bash
# build_debian.sh [folder]: builds the Debian packages of the last commit in a folder (default: build/debian), and checks
# them with lintian. Needs debhelper, dh-python, help2man, lintian and what packaging/debian/control lists; a quarter of an
# hour on two cores. To try the packages on a system of their own: autopkgtest *.changes -- chroot <folder of a Debian 12>
set -euo pipefail
folder=$(realpath -m "${1:-$(dirname "$0")/../build/debian}")
cd "$(dirname "$0")/.."
if [[ -e $folder && -n $(find "$folder" -mindepth 1 -maxdepth 1 -not -name '*lapse*' -print -quit) ]]; then
  echo "$folder holds other files: give a folder of its own, which is emptied" >&2
  exit 2
fi
version=$(sed -n '1s/.*(\(.*\)-.*).*/\1/p' packaging/debian/changelog)
rm -rf "$folder"
mkdir -p "$folder"
git archive --prefix="lapse-$version/" HEAD | tar -x -C "$folder"
tar -C "$folder" -czf "$folder/lapse_$version.orig.tar.gz" "lapse-$version"
cp -r packaging/debian "$folder/lapse-$version/debian"
(cd "$folder/lapse-$version" && dpkg-buildpackage --unsigned-source --unsigned-changes --build=full)
# They are not uploaded to Debian, whose list of bugs the first version of a package refers to.
lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$folder"/*.changes
