/* In an installation this header names the MPI library that the installed libraries were built with, and refuses to be
 * compiled with the header of another one. In the sources nothing is built yet. Included behind <mpi.h>. */
#ifndef LAPSE_CORE_MPI_LIBRARY_H
#define LAPSE_CORE_MPI_LIBRARY_H

#endif
