!> Tables with limits of pushes, and with consistency policies.
module fortran_tables
  use mpi_f08, only: MPI_COMM_WORLD
  use fortran_functions
  implicit none
  private

  public :: use_policies, limit_pushes

contains

  ! --- consistency policies ---

  subroutine use_policies()
    type(lapse_server) :: server
    type(lapse_table_spec) :: spec
    type(lapse_table), target :: table
    integer :: status
    call lapse_manager_create(MPI_COMM_WORLD, server)
    spec = lapse_table_spec(name='clocked', element=lapse_double, keys=10_int64, policy='cap(x)')
    call lapse_table_create(server, spec, table, status)
    call expect_error(status, lapse_error_configuration, 'cap(x)')
    spec%policy = 'bsp'
    spec%consistency = lapse_consistency_sequential
    call lapse_table_create(server, spec, table, status)
    call expect_error(status, lapse_error_configuration, 'it is ''sequential''')
    spec%consistency = lapse_consistency_default
    call lapse_table_create(server, spec, table)
    call lapse_run_workers(server, 2, count_in_clocks, c_loc(table))
    call lapse_server_close(server)
    call lapse_server_free(server)
  end subroutine use_policies

  !> At clock c, reads show at least all updates from before clock c, and the worker's own.
  recursive subroutine count_in_clocks(worker, context, ierr)
    type(lapse_worker), intent(in) :: worker
    type(c_ptr), intent(in) :: context
    integer, intent(inout) :: ierr
    integer, parameter :: clocks = 5
    type(lapse_table), pointer :: table
    real(real64) :: value(1)
    integer :: clock, workers
    call c_f_pointer(context, table)
    workers = lapse_worker_count(worker)
    do clock = 0, clocks - 1
      call lapse_push(worker, table, [3_int64], [1.0_real64])
      call lapse_pull(worker, table, [3_int64], value)
      call expect(nint(value(1)) > clock * workers .and. nint(value(1)) <= clocks * workers, 'a value at its clock')
      call lapse_advance_clock(worker)
    end do
    ierr = 0
  end subroutine count_in_clocks

  ! --- limits of pushes ---

  subroutine limit_pushes(server)
    type(lapse_server), intent(in) :: server
    type(lapse_table_spec) :: spec
    type(lapse_table), target :: table
    character(:), allocatable :: json
    integer :: status
    spec = lapse_table_spec(name='limited', element=lapse_double, keys=10_int64, length=2, max_push_norm=-1.0_real64)
    call lapse_table_create(server, spec, table, status)
    call expect_error(status, lapse_error_configuration, 'max_push_norm is -1')
    spec%max_push_norm = 2.5_real64
    spec%not_finite = 3
    call lapse_table_create(server, spec, table, status)
    call expect_error(status, lapse_error_configuration, 'not_finite is 3')
    spec%not_finite = lapse_not_finite_refuse
    call lapse_table_create(server, spec, table)
    call lapse_run_here(server, push_limited, c_loc(table))
    call lapse_trace_band('limits', 0.5_real64)
    call lapse_trace_note('task', 'limits')
    call lapse_trace_band('limits', -1.0_real64, status)
    call expect_error(status, lapse_error_usage, 'an interval of -1 seconds')
    call lapse_statistics_json(server, json)
    call expect(index(json, '"checked_rows": 3, "not_finite_rows": 1, "clipped_rows": 1') > 0, 'counts of limits')
  end subroutine limit_pushes

  recursive subroutine push_limited(worker, context, ierr)
    use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
    type(lapse_worker), intent(in) :: worker
    type(c_ptr), intent(in) :: context
    integer, intent(inout) :: ierr
    type(lapse_table), pointer :: table
    real(real64) :: updates(2), values(2)
    integer :: status
    call c_f_pointer(context, table)
    if (lapse_worker_index(worker) == 0) then
      updates = [3.0_real64, ieee_value(1.0_real64, ieee_quiet_nan)]
      call lapse_push(worker, table, [4_int64], updates, ierr=status)
      call expect_error(status, lapse_error_usage, 'a push to key 4 of table ''limited'' on rank 0: element 1 is nan')
      updates(2) = -4
      call lapse_push(worker, table, [4_int64], updates)
      updates = [0.25_real64, 0.5_real64]
      call lapse_push(worker, table, [4_int64], updates)
      call lapse_pull(worker, table, [4_int64], values)
      call expect(all(values == [1.75_real64, -1.5_real64]), 'a push that was scaled down')
    end if
    call lapse_barrier(worker)
    ierr = 0
  end subroutine push_limited
end module fortran_tables
