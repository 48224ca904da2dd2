# For Spack, https://spack.readthedocs.io: "spack repo add packaging/spack", then "spack install lapse".
# It builds the branch main of the repository that this file is in.
import pathlib

from spack.package import *


class Lapse(CMakePackage):
    """Parameter servers with dynamic parameter allocation, and adaptive parameter management, over MPI."""

    git = pathlib.Path(__file__).resolve().parents[4].as_uri()

    license("Apache-2.0")

    version("main", branch="main")

    variant("shared", default=True, description="Shared libraries, in place of archives")
    variant("apps", default=True, description="Applications and the programs lapse-options and lapse-checkpoint")
    variant("fortran", default=False, description="The Fortran module")
    variant("python", default=False, description="The package for Python")
    variant("io", default=True, description="Readers of compressed data: zlib, xz and zstd")
    variant("hdf5", default=False, when="+apps", description="lapse-checkpoint converts to HDF5")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3.1:")
    depends_on("hwloc")
    depends_on("boost@1.74: +serialization")
    depends_on("fmt@9:")
    depends_on("xxhash")
    depends_on("nlohmann-json")
    depends_on("cli11", when="+apps")
    depends_on("openblas", when="+apps")
    depends_on("zlib-api", when="+io")
    depends_on("xz", when="+io")
    depends_on("zstd", when="+io")
    depends_on("hdf5 ~mpi", when="+hdf5")
    extends("python", when="+python")
    depends_on("py-pybind11", type="build", when="+python")
    depends_on("py-numpy", type=("build", "run"), when="+python")
    depends_on("py-mpi4py", type=("build", "run"), when="+python")

    generator("ninja")
    # The library is written in C++20.
    conflicts("%gcc@:11")
    conflicts("%clang@:13")

    def test_version(self):
        """A program runs, with the libraries that it was linked to."""
        if "+apps" not in self.spec:
            raise SkipTest("needs the variant apps")
        which(self.prefix.bin.join("lapse-options"))("--version")

    def cmake_args(self):
        args = [
            self.define_from_variant("LAPSE_SHARED", "shared"),
            self.define("LAPSE_STATIC", "~shared" in self.spec),
            self.define_from_variant("LAPSE_BUILD_APPS", "apps"),
            self.define_from_variant("LAPSE_COMPRESSION", "io"),
            self.define_from_variant("LAPSE_FORTRAN", "fortran"),
            self.define_from_variant("LAPSE_PYTHON", "python"),
            self.define("LAPSE_BUILD_TESTS", False),
            self.define("LAPSE_BUILD_BENCHMARKS", False),
        ]
        if "+apps" in self.spec:
            args.append(self.define_from_variant("LAPSE_HDF5", "hdf5"))
        if "+python" in self.spec:
            python = self.spec["python"]
            folder = f"lib/python{python.version.up_to(2)}/site-packages"
            args += [self.define("LAPSE_PYTHON_EXECUTABLE", python.command.path), self.define("LAPSE_PYTHON_FOLDER", folder)]
        return args
