! A program in Fortran that uses only the installation.
module adding
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64, real32
  use lapse
  implicit none
contains
  recursive subroutine add(worker, context, ierr)
    type(lapse_worker), intent(in) :: worker
    type(c_ptr), intent(in) :: context
    integer, intent(inout) :: ierr
    type(lapse_table), pointer :: table
    real(real32) :: values(2, 1)
    call c_f_pointer(context, table)
    values = 1
    call lapse_push(worker, table, [3_int64], values)
    call lapse_sync_barrier(worker)
    call lapse_pull(worker, table, [3_int64], values)
    if (any(values /= lapse_worker_count(worker))) ierr = 1
  end subroutine add
end module adding

program installed
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08
  use adding
  implicit none
  type(lapse_server) :: server
  type(lapse_table), target :: table
  integer :: provided, ierr
  call lapse_prepare_mpi()
  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided)
  call lapse_server_create(MPI_COMM_WORLD, server, ierr=ierr)
  if (ierr /= lapse_ok) then
    print '(2a)', 'Fortran: ', lapse_last_error()
    stop 1
  end if
  call lapse_table_create(server, lapse_table_spec(keys=10_int64, length=2), table)
  call lapse_run_workers(server, 2, add, c_loc(table))
  call lapse_server_close(server)
  call lapse_server_free(server)
  call MPI_Finalize()
  print '(3a)', 'Fortran ', lapse_version(), ' works'
end program installed
