lapse_test(transport_unit
  SOURCES transport_buffers.cpp transport_mpi_library.cpp transport_rma_receive_ring.cpp transport_loopback.cpp
          transport_rdma_devices.cpp
  THREADED transport_host_ring.cpp transport_host_ring_pieces.cpp transport_host_rings.cpp transport_mpi_lock.cpp transport_shared_memory.cpp transport_threaded_loopback.cpp
  DEPENDS lapse::transport)
