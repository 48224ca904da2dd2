lapse_test(rma_rings
  SOURCES rma_rings.cpp
  DEPENDS lapse::transport fmt::fmt
  RANKS 1 2 3 4
  TIMEOUT 60)
# It leaves windows that never complete: then UCX, which MPICH uses, aborts the process in MPI_Finalize.
if(LAPSE_WITH_OPEN_MPI)
  lapse_test(rma_rings_faults
    SOURCES rma_rings_faults.cpp
    DEPENDS lapse::jobs fmt::fmt
    RANKS 2 3
    TIMEOUT 60)
endif()
