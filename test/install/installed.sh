#!/bin/bash
# installed.sh <build folder> <sources of consumers> <compiler> <launcher ...>: installs the build with
# DESTDIR to a temporary folder, builds consumers that use only this installation, and runs them.
set -euo pipefail

source "$(dirname "$0")/prepare.sh"

step() {
  echo "$((SECONDS)) s: $*"
}

step "installation"
DESTDIR=$folder/moved cmake --install "$build" --prefix /opt/lapse >"$folder/install.log"
prefix=$folder/moved/opt/lapse
libraries=$(dirname "$(find "$prefix" -name liblapse.so)")
package=$libraries/cmake/lapse
mkdir -p "$folder/test/install"
cp -r "$sources" "$folder/test/install"
cd "$folder"

# No file of the package contains the folders of the sources, of the build or of DESTDIR.
source_folder=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
! grep -rlE "$source_folder|$build|$folder" "$package" "$libraries/pkgconfig" || fail "these files name folders of the build"
for program in lapse-options lapse-checkpoint lapse-viewer lapse-report lapse-matrix-factorization lapse-knowledge-graph-embeddings lapse-word-vectors; do
  [[ -x $prefix/bin/$program ]] || fail "$program is not installed"
done
# Nor do programs and libraries search them for other libraries.
find "$prefix" -type f \( -path '*/bin/*' -o -name '*.so*' \) ! -exec grep -qI '^#!' {} \; -exec readelf -d {} + >dynamic
grep -q '(NEEDED)' dynamic || fail "readelf shows nothing of programs and libraries"
! grep -E "\((RPATH|RUNPATH)\).*($source_folder|$build|$folder)" dynamic || fail "programs or libraries search folders of the build"
"$prefix/bin/lapse-checkpoint" --help >/dev/null
# Scripts that start programs of Python find them beside themselves.
if [[ -e $prefix/bin/lapse-click-prediction ]]; then
  ! grep -E "$source_folder|$build|$folder" "$prefix"/bin/lapse-click-prediction || fail "a script names folders of the build"
  [[ -f $prefix/share/lapse/apps/click_prediction.py && -f $prefix/share/lapse/apps/torch_common/program.py ]] ||
    fail "the programs of Python are missing"
fi
[[ -f $prefix/share/lapse/recipes/wn18rr.ini && -x $prefix/share/lapse/slurm/scaling.sh ]] || fail "recipes or scripts are missing"
[[ -f $prefix/share/lapse/python/lapse_checkpoint.py && -f $prefix/share/doc/lapse/guide.md ]] || fail "the Python module or pages are missing"
[[ ! -e $prefix/include/lapse/store/store.hpp && -f $prefix/include/lapse/core/export.hpp ]] || fail "other headers than expected"

# The Slurm scripts name installed programs, without DESTDIR, and are refused without Slurm.
scripts=$prefix/share/lapse/slurm
! grep -rnE "build/release|[ (]slurm/[a-z_]+\.(sbatch|sh)" "$scripts" || fail "scripts name the folder of the sources"
grep -q "PROGRAM:-/opt/lapse/bin/lapse-word-vectors" "$scripts/word_vectors.sbatch" || fail "a script has another program"
grep -qx "scripts='/opt/lapse/share/lapse/slurm'" "$scripts/resume.sbatch" || fail "a script has another folder"
if env -u SLURM_JOB_ID bash "$scripts/resume.sbatch" true 2>by_hand; then fail "a script runs without Slurm"; fi
grep -q "submit it by sbatch, as in: sbatch /opt/lapse/share/lapse/slurm/resume.sbatch" by_hand || fail "by hand: $(cat by_hand)"
# The installed scripts run like Slurm runs them: as a copy in another folder.
cmake --install "$build" --prefix "$folder/programs" --component programs >"$folder/install.log"
mkdir spool stubs
printf '#!/bin/bash\nwhile [[ $1 == --* ]]; do shift; done\nexec "$@"\n' >stubs/srun
chmod +x stubs/srun
for name in knowledge_graph_embeddings linear_model matrix_factorization topic_model word_vectors; do
  cp "$folder/programs/share/lapse/slurm/$name.sbatch" spool/slurm_script
  env -u TRAIN_SCRIPT -u RESUME_SCRIPT -u PROGRAM PATH="$folder/stubs:$PATH" SLURM_JOB_ID=1 SLURM_SUBMIT_DIR="$folder" SLURM_NTASKS=1 \
    SLURM_JOB_NODELIST=here SLURM_JOB_END_TIME=$(($(date +%s) + 3600)) bash spool/slurm_script --help >script.out 2>&1 ||
    fail "$name.sbatch: $(cat script.out)"
  grep -q -- "--checkpoint-dir" script.out || fail "$name.sbatch has run something else: $(cat script.out)"
done

python3 "$sources/../links.py" "$prefix" || fail "links of the pages that were installed"
! grep -rn "build/release/\(apps\|examples\)" "$prefix/share/doc/lapse" || fail "pages name programs of the build folder"

# The interfaces to other languages that were built.
python=$(sed -n 's/^LAPSE_PYTHON_EXECUTABLE:FILEPATH=//p' "$build/CMakeCache.txt")
packages=$(find "$prefix" -type d -name site-packages)
[[ -f $package/lapse-fortran-shared.cmake ]] && has_fortran=1 || has_fortran=""
[[ -n $packages ]] && "$python" -c 'import mpi4py, numpy' && has_python=1 || has_python=""
clang=$(command -v clang++ || true)
[[ -n $clang && -n $(find /usr/lib/llvm* -name libomp.so 2>/dev/null) ]] || clang=""
[[ -n $has_fortran ]] || echo "SKIPPED: the Fortran module was not built"
[[ -n $has_python ]] || echo "SKIPPED: the package for Python was not built, or $python has no mpi4py"
[[ -n $clang ]] || echo "SKIPPED: there is no clang++ with its OpenMP"

# The libraries export only their own names, and few of those.
for library in lapse adapm lapse_io lapse_c ${has_fortran:+lapse_fortran}; do
  file=$libraries/lib$library.so
  [[ -L $file && $(readelf -d "$file") == *"soname: [lib$library.so.0.1]"* ]] || fail "$file has another name within"
  nm -D --defined-only "$file" | awk '{ print $3 }' | grep -vE '^((_ZNK?|_ZT[VIS]N)(5lapse|5adapm)|__lapse_|lapse_[a-z_0-9]+$)' >names || true
  [[ ! -s names ]] || fail "lib$library.so shows $(head -3 names)"
done
[[ $(nm -D --defined-only "$libraries/liblapse.so") != *SlotThreads* ]] || fail "liblapse.so shows inner parts"

configure() {  # <folder> <options ...>
  local into=$1
  shift
  cmake -S test/install/consumer -B "$into" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" "$@"
}

flags() {
  PKG_CONFIG_PATH=$libraries/pkgconfig pkg-config "$@"
}

# Runs the line of a page that begins with these words, as a user who has only set PKG_CONFIG_PATH.
run_line() {  # <page> <its first words>
  local line
  line=$(sed -n "s/^    \\($2 .*\\)/\\1/p" "$prefix/share/doc/lapse/$1" | head -n 1)
  [[ -n $line ]] || fail "$1 has no line with $2"
  echo "$1: $line"
  env -u LD_LIBRARY_PATH PKG_CONFIG_PATH="$libraries/pkgconfig" bash -euo pipefail -c "$line" || fail "a line of $1"
}

# OpenMP is compiled in parallel with the next steps.
# shellcheck disable=SC2046  # Flags are words.
"$compiler" -std=c++20 -fopenmp test/install/consumer/openmp.cpp -o openmp_gcc $(flags --cflags --libs lapse) -Wl,-rpath,"$libraries" &
openmp_gcc=$!
if [[ -n $clang ]]; then
  # shellcheck disable=SC2046
  "$clang" -std=c++20 -fopenmp test/install/consumer/openmp.cpp -o openmp_clang $(flags --cflags --libs lapse) -Wl,-rpath,"$libraries" &
  openmp_clang=$!
fi

step "another MPI library"
mkdir other
{
  for name in MPI_Init MPI_Finalize MPI_Get_version; do
    echo "extern \"C\" int $name() { return 0; }"
  done
  cat <<'EOF'
#include <cstring>
extern "C" int MPI_Get_library_version(char* text, int*) {
  std::memset(text, 'x', 8191);  // Open MPI has 255.
  std::memcpy(text, "MPICH Version: 4.0.2\n", 21);
  text[8191] = '\0';
  return 0;
}
EOF
} | "$compiler" -x c++ -shared -fPIC -Wl,-soname,libmpich.so.12 -o other/libmpich.so.12 -
ln -s libmpich.so.12 other/libmpich.so
cat >other/mpi.h <<'EOF'
#define MPI_VERSION 4
#define MPI_SUBVERSION 0
extern "C" int MPI_Init(int*, char***);
extern "C" int MPI_Finalize();
EOF
# shellcheck disable=SC2046
if "${CC:-cc}" -std=c99 -fsyntax-only -Iother $(flags --cflags lapse-c) test/install/consumer/program.c 2>log; then
  fail "a program is compiled with the header of another MPI library"
fi
grep -q '#error "lapse was built with Open MPI .*, and <mpi.h> is that of another MPI library' log || fail "no clear message: $(cat log)"
other_mpi=(-DMPI_CXX_HEADER_DIR="$folder/other" -DMPI_CXX_LIB_NAMES=mpich
  -DMPI_mpich_LIBRARY="$folder/other/libmpich.so" -DMPI_ASSUME_NO_BUILTIN_MPI=ON -DMPI_CXX_SKIP_MPICXX=ON)
if command -v mpicxx.mpich >/dev/null; then
  other_mpi=(-DMPI_CXX_COMPILER=mpicxx.mpich)
else
  echo "There is no MPICH: a library with its name takes its place."
fi
if configure other_mpi "${other_mpi[@]}" >log 2>&1; then
  fail "a project with another MPI library finds the package"
fi
tr -s ' \n' ' ' <log | grep -q "lapse was built with .* (libmpi.*), this project uses the MPI library libmpich.so.12" ||
  fail "this is no clear message for another MPI library: $(cat log)"

if command -v mpicxx.mpich mpicc.mpich >/dev/null; then
  if configure other_c -DLANGUAGES="C;CXX" -DCOMPONENTS=c -DMPI_C_COMPILER=mpicc.mpich >log 2>&1; then
    fail "a project whose C has another MPI library finds the package"
  fi
  tr -s ' \n' ' ' <log | grep -q "the MPI library libmpich.so.12: both must use one MPI. Choose the other with -DMPI_C_COMPILER" ||
    fail "this is no clear message for another MPI library in C: $(cat log)"
  # shellcheck disable=SC2046
  if mpicxx.mpich -std=c++20 -fsyntax-only test/install/consumer/openmp.cpp $(flags --cflags lapse) 2>log; then
    fail "the compiler of another MPI library compiles a program"
  fi
  grep -q '#error "lapse was built with Open MPI .*, and <mpi.h> is that of another MPI library' log || fail "no clear message: $(cat log)"
fi

step "consumer with CMake, shared"
# Consumers do not need the packages that the library uses internally.
configure with_cmake -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON \
  "-DLANGUAGES=C;CXX${has_fortran:+;Fortran}" "-DCOMPONENTS=adapm;c;io${has_fortran:+;fortran}${has_python:+;python}" >log 2>&1 || fail "$(cat log)"
[[ -z $has_python ]] || grep -qx -- "-- Python: $packages" log || fail "the package says another folder than $packages: $(cat log)"
cmake --build with_cmake --parallel 2 >log || fail "$(cat log)"
"${launcher[@]}" 2 with_cmake/program | tee output
grep -qx "version 0.1.0 on 2 ranks" output || fail "the program has printed something else"
"${launcher[@]}" 2 with_cmake/c_program | tee output
[[ $(grep -cx "C 0.1.0 works" output) -eq 2 ]] || fail "the program in C has printed something else"
# The message names the library that the process has loaded first.
if "${launcher[@]}" 1 env LD_PRELOAD="$folder/other/libmpich.so" with_cmake/c_program >output 2>&1; then
  fail "a process with another MPI library has a server"
fi
grep -qx "lapse was built with Open MPI, and this process has loaded MPICH Version: 4.0.2: .*" output || fail "no clear message: $(cat output)"
if [[ -n $has_fortran ]]; then
  "${launcher[@]}" 2 with_cmake/fortran_program | tee output
  [[ $(grep -cx "Fortran 0.1.0 works" output) -eq 2 ]] || fail "the program in Fortran has printed something else"
  if configure no_fortran -DCOMPONENTS=fortran >log 2>&1 || ! tr -s ' \n' ' ' <log | grep -q "needs the language Fortran in this project"; then
    fail "no clear message for a project without Fortran: $(cat log)"
  fi
fi
if [[ -n $has_python ]]; then
  step "consumer in Python"
  PYTHONPATH=$packages "${launcher[@]}" 2 "$python" -B test/install/consumer/program.py "$libraries" | tee output
  [[ $(grep -cx "Python works" output) -eq 2 ]] || fail "the program in Python has printed something else"
  if "$python" -c 'import torch' 2>/dev/null; then
    for name in click_prediction graph_network; do
      cp "$folder/programs/share/lapse/slurm/$name.sbatch" spool/slurm_script
      env -u TRAIN_SCRIPT -u RESUME_SCRIPT -u PROGRAM PYTHONPATH="$packages" PATH="$folder/stubs:$PATH" SLURM_JOB_ID=1 SLURM_SUBMIT_DIR="$folder" SLURM_NTASKS=1 \
        SLURM_JOB_NODELIST=here SLURM_JOB_END_TIME=$(($(date +%s) + 3600)) bash spool/slurm_script --help >script.out 2>&1 ||
        fail "$name.sbatch: $(cat script.out)"
      grep -q -- "--checkpoint-dir" script.out || fail "$name.sbatch has run something else: $(cat script.out)"
    done
  else
    echo "SKIPPED: $python has no PyTorch"
  fi
fi

step "examples, and the program of the guide"
cmake -S "$prefix/share/doc/lapse/examples" -B examples -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" >log 2>&1 || fail "$(cat log)"
cmake --build examples --parallel 2 >log || fail "$(cat log)"
"${launcher[@]}" 2 examples/example_counters || fail "an example"
"${launcher[@]}" 1 examples/example_plain_loop_step_3 || fail "an example"
"${python:-python3}" -B "$sources/../../docs/examples.py" program "$prefix/share/doc/lapse/guide.md" guide_example.cpp
run_line guide.md "mpicxx -std=c++20 -O3"
"${launcher[@]}" 2 ./guide_example || fail "the program of the guide"
cp guide_example.cpp program.cpp
run_line installation.md "mpicxx -std=c++20 program.cpp" && "${launcher[@]}" 1 ./program || fail "the program of installation.md"
cp test/install/consumer/program.c .
run_line c-interface.md "mpicc program.c" && "${launcher[@]}" 1 ./program || fail "the program of c-interface.md"
if [[ -n $has_fortran ]]; then
  cp test/install/consumer/program.f90 .
  run_line fortran.md "mpifort program.f90" && "${launcher[@]}" 1 ./program || fail "the program of fortran.md"
fi

step "OpenMP"
wait "$openmp_gcc" || fail "the program with OpenMP"
"${launcher[@]}" 2 ./openmp_gcc || fail "the program with OpenMP of $compiler"
if [[ -n $clang ]]; then
  wait "$openmp_clang" || fail "the program with OpenMP, by $clang"
  "${launcher[@]}" 2 ./openmp_clang || fail "the program with OpenMP of $clang"
  ldd openmp_clang | grep -q libomp || fail "$clang uses another OpenMP than its own"
fi

step "consumer with pkg-config, shared, and a plugin with CMake, static"
[[ $(flags --modversion lapse) == 0.1.0 && $(flags --libs adapm lapse-io) == *"-ladapm -llapse_io"*-llapse* ]] || fail "pkg-config gives other flags"
# shellcheck disable=SC2046  # Flags are words.
"$compiler" -std=c++20 -I. test/install/consumer/host.cpp -o host $(flags --cflags lapse) $(flags --libs lapse) -Wl,-rpath,"$libraries"
# shellcheck disable=SC2046
"${CC:-cc}" -std=c99 -Wall -Wextra -Wpedantic -Werror test/install/consumer/program.c -o c_program $(flags --cflags lapse-c) \
  $(flags --libs lapse-c) -Wl,-rpath,"$libraries"
"${launcher[@]}" 1 ./c_program || fail "the program in C"
if [[ -n $has_fortran ]]; then
  # shellcheck disable=SC2046
  mpifort test/install/consumer/program.f90 -o fortran_program $(flags --cflags --libs lapse-fortran) -Wl,-rpath,"$libraries"
  "${launcher[@]}" 1 ./fortran_program || fail "the program in Fortran"
fi
configure static_plugin -DFORM=static >log 2>&1 || fail "$(cat log)"
cmake --build static_plugin >log || fail "$(cat log)"
"${launcher[@]}" 2 ./host "$folder/static_plugin/libplugin.so" || fail "the program with two copies of the library"

step "plugin with pkg-config, static"
# Installations with archives only, without shared libraries.
rm "$libraries"/lib*.so*
# shellcheck disable=SC2046
"$compiler" -std=c++20 -fPIC -shared -I. test/install/consumer/plugin.cpp -o plugin.so $(flags --cflags lapse) $(flags --static --libs lapse) \
  -Wl,--no-undefined
ldd plugin.so | grep -q liblapse && fail "the plugin needs a shared library"
# Drivers of other languages do not link the C++ library.
# shellcheck disable=SC2046
mpicc -std=c99 test/install/consumer/program.c -o static_c $(flags --cflags lapse-c) $(flags --static --libs lapse-c)
"${launcher[@]}" 1 ./static_c || fail "the program in C with archives"
if [[ -n $has_fortran ]]; then
  # shellcheck disable=SC2046
  mpifort test/install/consumer/program.f90 -o static_fortran $(flags --cflags lapse-fortran) $(flags --static --libs lapse-fortran)
  "${launcher[@]}" 1 ./static_fortran || fail "the program in Fortran with archives"
fi
ldd static_* | grep -q liblapse && fail "a program with archives needs a shared library"
step "done"
