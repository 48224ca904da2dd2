!> What fortran_program.f90 does beside accesses: memory, hosts, hooks, stops, leases, parts of checkpoints.
module fortran_services
  use mpi_f08, only: MPI_COMM_WORLD
  use fortran_functions
  implicit none

  integer :: lines = 0, regions_begun = 0, regions_ended = 0

  interface
    function c_fork() result(child) bind(C, name='fork')
      import :: c_int
      integer(c_int) :: child
    end function c_fork
    function c_waitpid(child, status, options) result(ended) bind(C, name='waitpid')
      import :: c_int
      integer(c_int), value :: child, options
      integer(c_int) :: status, ended
    end function c_waitpid
    subroutine c_exit(status) bind(C, name='_exit')
      import :: c_int
      integer(c_int), value :: status
    end subroutine c_exit
  end interface

contains

  !> A child that fork makes gets errors, and closes without an effect.
  subroutine try_in_child(server)
    type(lapse_server), intent(inout) :: server
    integer(c_int) :: child, ended, status
    integer :: refused
    logical :: right
    child = c_fork()
    if (child == 0) then
      call lapse_start_progress(server, 1, refused)
      right = refused == lapse_error_usage .and. index(lapse_last_error(), 'made by fork') > 0
      call lapse_server_close(server, refused)
      right = right .and. refused == lapse_ok
      call c_exit(merge(0_c_int, 1_c_int, right))
    end if
    ended = c_waitpid(child, status, 0_c_int)
    call expect(ended == child .and. status == 0, 'a child that is refused')
  end subroutine try_in_child

  !> The job is asked to stop by a signal number of the system, SIGUSR1, which Fortran cannot send.
  subroutine control_job()
    type(lapse_server) :: server
    type(lapse_worker) :: worker
    type(lapse_job) :: job
    character(:), allocatable :: reason
    logical :: answer
    integer :: status
    call lapse_server_create(MPI_COMM_WORLD, server)
    call lapse_job_create(server, job, signals=[10_c_int], epochs=2_int64, deadline=1_int64)
    call lapse_job_create(server, job, ierr=status)
    call expect_error(status, lapse_error_usage, 'job has not been ended')
    call lapse_job_need_checkpoint(job, 1_int64, 0_int64, answer)
    call expect(.not. answer, 'no checkpoint after an epoch')
    call lapse_job_need_checkpoint(job, -5_int64, 0_int64, answer, status)
    call expect_error(status, lapse_error_configuration, 'below 0')
    call lapse_job_need_checkpoint(job, 2_int64, 0_int64, answer)
    call expect(answer, 'a checkpoint after two epochs')
    call lapse_job_begin_interval(job, 3_int64, 0_int64)
    call lapse_job_checkpoint_due(job, answer)
    call expect(.not. answer, 'no time for a checkpoint')
    call lapse_job_stop_requested(job, answer)
    call lapse_job_should_stop(job, answer)
    call lapse_job_stop_reason(job, reason)
    call expect(answer .and. index(reason, 'time') > 0, 'the time of the job is over: '//reason)
    call lapse_job_free(job)
    call lapse_job_create(server, job, grace=-1_int64, ierr=status)
    call expect_error(status, lapse_error_configuration, 'below 0')
    call lapse_start_progress(server, 1)
    call lapse_attach(server, worker)
    call try_in_child(server)
    call lapse_detach_failed(worker, 'of this test')
    call lapse_stop_progress(server, status)
    call expect_error(status, lapse_error_peer_failed, 'of this test')
    call lapse_server_close(server)
    call lapse_server_free(server)
  end subroutine control_job

  recursive subroutine use_lease(worker, table)
    type(lapse_worker), intent(in) :: worker
    type(lapse_table), intent(in) :: table
    type(lapse_lease) :: lease
    real(real32), pointer :: value(:), matrix(:, :)
    real(real64), pointer :: wrong(:)
    integer :: status
    call lapse_lease_keys(worker, table, [40_int64, 41_int64], lease)
    call lapse_lease_value(lease, 0, value, ierr=status)
    call expect_error(status, lapse_error_usage, 'below 1')
    call lapse_lease_value(lease, 3, value, ierr=status)
    call expect_error(status, lapse_error_usage, 'of a lease of 2 keys')
    call lapse_lease_keys(worker, table, [42_int64], lease, status)
    call expect_error(status, lapse_error_usage, 'lease has not been ended')
    call lapse_lease_value(lease, 2, value)
    call expect(size(value) == row, 'a leased value')
    value = 4
    call lapse_lease_apply(lease, 2, [1.0_real32, 2.0_real32, 3.0_real32])
    call expect(all(value == [5, 6, 7]), 'an update of a leased value')
    call lapse_lease_value(lease, 2, matrix, rows=1)
    call expect(all(shape(matrix) == [1, row]), 'a leased matrix')
    call lapse_lease_apply(lease, 2, matrix)
    call expect(all(value == [10, 12, 14]), 'an update by a matrix')
    call lapse_lease_value(lease, 2, matrix, rows=2, ierr=status)
    call expect_error(status, lapse_error_length, 'a value of 3 elements as a matrix of rows 2')
    call lapse_lease_value(lease, 1, wrong, ierr=status)
    call expect_error(status, lapse_error_usage, 'real(real32)')
    call lapse_lease_release(lease)
  end subroutine use_lease

  !> Keys of two tables, which are counted through.
  recursive subroutine lease_tables(worker, floats, longs)
    type(lapse_worker), intent(in) :: worker
    type(lapse_table), intent(in) :: floats, longs
    type(lapse_lease_part) :: parts(2)
    type(lapse_lease) :: lease
    real(real32), pointer :: value(:)
    integer(int64), pointer :: number(:)
    integer :: status
    parts(1) = lapse_lease_part(floats, [40_int64, 41_int64])
    parts(2) = lapse_lease_part(longs, [3_int64])
    call lapse_lease_tables(worker, parts, lease)
    call lapse_lease_value(lease, 2, value)
    call lapse_lease_value(lease, 3, number)
    call expect(size(value) == row .and. size(number) > 0, 'values of two tables')
    call lapse_lease_value(lease, 3, value, ierr=status)
    call expect_error(status, lapse_error_usage, 'integer(int64)')
    call lapse_lease_value(lease, 4, value, ierr=status)
    call expect_error(status, lapse_error_usage, 'of a lease of 3 keys')
    call lapse_lease_release(lease)
  end subroutine lease_tables

  !> Their elements are counted by 64 bits; none is read.
  recursive subroutine give_large_matrix(worker, table)
    type(lapse_worker), intent(in) :: worker
    type(lapse_table), intent(in) :: table
    real(real32), allocatable :: matrix(:, :)
    integer :: status
    allocate (matrix(65536, 32769), stat=status)
    if (status /= 0) then
      print '(a)', 'SKIPPED: no address space for a matrix of more than 2^31 elements'
      return
    end if
    call lapse_set_begin(worker, table, [1_int64], matrix, ierr=status)
    call expect_error(status, lapse_error_length, '2147549184')
  end subroutine give_large_matrix

  subroutine ask_for_memory(server, table, spec, before)
    type(lapse_server), intent(in) :: server
    type(lapse_table), intent(in) :: table
    type(lapse_table_spec), intent(in) :: spec  ! of the table, with another name
    integer(int64), intent(in) :: before        ! in use before the table was made
    type(lapse_table) :: none
    type(lapse_server) :: no_server
    integer(int64) :: all, one, estimated
    integer :: status
    call lapse_memory_use(server, all)
    call lapse_table_memory_use(server, table, one)
    call lapse_estimate_memory(server, spec, estimated)
    call expect(estimated > 0 .and. one >= estimated .and. all == before + one, 'memory of a table')
    call lapse_table_memory_use(server, none, one, status)
    call expect_error(status, lapse_error_usage, 'table is NULL')
    call lapse_memory_use(no_server, one, status)
    call expect_error(status, lapse_error_usage, 'server is NULL')
    call lapse_estimate_memory(server, lapse_table_spec(keys=0), estimated, status)
    call expect_error(status, lapse_error_configuration, 'key')
  end subroutine ask_for_memory

  !> All ranks of this test are on one host.
  subroutine ask_for_hosts(server, ranks)
    type(lapse_server), intent(in) :: server
    integer, intent(in) :: ranks
    integer(int32) :: hosts(ranks), wrong(ranks + 1)
    integer :: status
    hosts = -1
    call lapse_server_hosts(server, hosts)
    call expect(all(hosts == 0), 'hosts')
    call lapse_server_hosts(server, wrong, status)
    call expect_error(status, lapse_error_usage, 'expected')
  end subroutine ask_for_hosts

  ! --- hooks ---

  recursive subroutine count_failure(level, rank, message, context)
    integer, intent(in) :: level, rank
    character(*), intent(in) :: message
    type(c_ptr), intent(in) :: context
    integer, pointer :: own_rank
    call c_f_pointer(context, own_rank)
    if (level == 0 .and. rank == own_rank .and. index(message, 'returned 17') > 0) lines = lines + 1
  end subroutine count_failure

  recursive subroutine count_begin(name, context)
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: context
    call expect(index(name, 'lapse ') == 1 .and. .not. c_associated(context), 'the name of a region')
    !$omp atomic
    regions_begun = regions_begun + 1
  end subroutine count_begin
  recursive subroutine count_end(name, context)
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: context
    call expect(index(name, 'lapse ') == 1 .and. .not. c_associated(context), 'the name of a region')
    !$omp atomic
    regions_ended = regions_ended + 1
  end subroutine count_end

  ! --- stops ---

  !> The last worker asks all to return.
  recursive subroutine work_until_stopped(worker, context, ierr)
    type(lapse_worker), intent(in) :: worker
    type(c_ptr), intent(in) :: context
    integer, intent(inout) :: ierr
    type(tables_of_program), pointer :: p
    logical :: stopped
    call c_f_pointer(context, p)
    call expect(lapse_worker_local_count(worker) == 2, 'workers of a rank')
    call lapse_stop_requested(p%server, stopped)
    call expect(.not. stopped, 'no request to stop')
    call lapse_barrier(worker)
    if (lapse_worker_index(worker) == lapse_worker_count(worker) - 1) call lapse_request_stop(p%server)
    do while (.not. stopped)
      call lapse_wait_all(worker)
      call lapse_stop_requested(p%server, stopped)
    end do
    ierr = 0
  end subroutine work_until_stopped

  ! --- checkpoints ---

  !> Steps 4 and 5 are there. What is loaded says that step 5 could not be: it is kept beside the next one.
  subroutine load_parts(checkpoints)
    type(lapse_checkpoints), intent(in) :: checkpoints
    type(lapse_table_load) :: parts(2)
    character(:), allocatable :: text
    integer(int64) :: step
    integer :: problems, status
    logical :: only_local
    call lapse_checkpoints_load(checkpoints, 4_int64, is_fallback=.true.)
    call lapse_checkpoints_save(checkpoints, 6_int64)
    call lapse_checkpoints_load(checkpoints, 5_int64, step, is_fallback=.true.)
    call expect(step == 5, 'a checkpoint beside a fallback')
    call lapse_checkpoints_problem_count(checkpoints, problems)
    call lapse_checkpoints_only_local(checkpoints, only_local)
    call expect(problems == 0 .and. .not. only_local, 'no problems')
    call lapse_checkpoints_problem(checkpoints, 1, text, status)
    call expect_error(status, lapse_error_usage, 'that had 0')
    parts(1) = lapse_table_load('floats', 10_int64, 19_int64, state=.false.)
    parts(2) = lapse_table_load('other')
    call lapse_checkpoints_load(checkpoints, 5_int64, tables=parts, is_fallback=.true.)
    call lapse_checkpoints_load(checkpoints, 5_int64, is_fallback=.true., grow=.true.)
    parts(2) = lapse_table_load('none')
    call lapse_checkpoints_load(checkpoints, tables=parts, ierr=status)
    call expect_error(status, lapse_error_usage, 'none')
    call lapse_checkpoints_load(checkpoints, folder='no/such/folder', ierr=status)
    call expect_error(status, lapse_error_checkpoint, 'no/such/folder')
    call expect(lapse_checkpoints_staged(checkpoints), 'a checkpoint on a disk')
    call lapse_checkpoints_release_memory(checkpoints)
    call lapse_checkpoints_save_begin(checkpoints, 7_int64, 'all', per_worker=['one  ', 'three'], clocks=[4_int64, 5_int64])
    call lapse_checkpoints_finish(checkpoints)
    call lapse_checkpoints_load(checkpoints, blob=text)
    call lapse_checkpoints_worker_count(checkpoints, problems, status)
    call expect(text == 'all' .and. problems >= 2 .and. status == problems, 'bytes and clocks of workers')
    call lapse_checkpoints_worker_bytes(checkpoints, problems - 1, text)
    call lapse_checkpoints_worker_clock(checkpoints, problems - 2, step)
    call expect(text == 'three' .and. step == 4, 'bytes and a clock of a worker')
    call lapse_checkpoints_worker_clock(checkpoints, -1, step, status)
    call expect_error(status, lapse_error_usage, 'below 0')
  end subroutine load_parts
end module fortran_services
