!> The Fortran module, as a program uses it: on any number of ranks, the argument is a folder for checkpoints.
module fortran_work
  use fortran_services
  use fortran_tables
  implicit none
contains

  recursive subroutine access_values(worker, context, ierr)
    type(lapse_worker), intent(in) :: worker
    type(c_ptr), intent(in) :: context
    integer, intent(inout) :: ierr
    type(tables_of_program), pointer :: p
    type(lapse_operation) :: operation
    integer(int64) :: keys(4), i
    real(real32) :: values(row, 4), wide(row, 8)
    real(real32), target, asynchronous :: later(row, 4), strided(row, 8)
    real(real64) :: doubles(4), largest(1)
    integer(int32) :: ints(4)
    integer(int64) :: longs(4), total(1)
    integer :: status, workers
    integer(c_int) :: where_it_is
    logical :: done
    call c_f_pointer(context, p)
    workers = lapse_worker_count(worker)
    call expect(lapse_worker_index(worker) < workers .and. lapse_worker_local_index(worker) < 2, 'numbers')
    keys = [0, 7, 30, 49]

    ! The four types, rank 1 and rank 2, with and without gaps.
    call lapse_pull(worker, p%floats, keys, values)
    call expect(all(values(row, :) == real(keys, real32) + 0.25), 'initial values')
    call lapse_barrier(worker)
    wide = 100
    wide(:, 1:8:2) = 1
    call lapse_push(worker, p%floats, keys, wide(:, 1:8:2))
    call lapse_push_begin(worker, p%floats, keys, values*0 + 1, scale=2.0_real32)
    call lapse_wait_all(worker)
    call lapse_sync_barrier(worker)
    wide = -1
    call lapse_pull(worker, p%floats, keys, wide(:, 2:8:2))
    call expect(all(wide(1, 2:8:2) == real(keys, real32) + 0.25 + 3*real(workers)), 'sums in every second column')
    call expect(all(wide(:, 1:7:2) == -1), 'nothing between them')
    call lapse_pull_begin(worker, p%floats, keys, later, operation)
    call lapse_wait(operation)
    call expect(all(later == wide(:, 2:8:2)) .and. lapse_operation_done(operation), 'a pull that began')
    call lapse_pull_begin(worker, p%floats, keys, strided(:, 1:8:2), operation, status)
    call expect_error(status, lapse_error_usage, 'gaps')
    call lapse_barrier(worker)
    call access_elements(worker, p%floats, keys, later(1, :))

    doubles = 0.5
    call lapse_push(worker, p%doubles, keys, doubles)
    ints = 3
    call lapse_push(worker, p%ints, keys, ints)
    longs = 4000000000_int64
    call lapse_push(worker, p%longs, keys*1000000007, longs)
    call lapse_sync_barrier(worker)
    call lapse_pull(worker, p%doubles, keys, doubles)
    call lapse_pull(worker, p%ints, keys, ints)
    call lapse_pull(worker, p%longs, keys*1000000007, longs)
    call expect(all(doubles == -0.5*workers), 'doubles')
    call expect(all(ints == 3*workers), 'ints')
    call expect(all(longs == 4000000000_int64*workers), 'longs')
    call lapse_barrier(worker)
    if (lapse_worker_index(worker) == 0) call lapse_set(worker, p%ints, keys(1:1), [8_int32])
    call lapse_set_begin(worker, p%doubles, keys(1:2), [2.0_real64, 3.0_real64], operation)
    call lapse_pull_begin(worker, p%ints, keys(1:1), ints(1:1), operation, status)
    call expect_error(status, lapse_error_usage, 'operation has not been ended')
    call lapse_wait(operation)
    call lapse_sync_barrier(worker)
    call lapse_pull(worker, p%ints, keys(1:1), ints(1:1))
    call expect(ints(1) == 8, 'what was set')

    ! One key that is local.
    done = .false.
    do i = 1, 1000
      call lapse_localize(worker, p%floats, [20_int64])
      call lapse_pull_if_local(worker, p%floats, 20_int64, values(:, 1), done)
      if (done) exit
    end do
    if (done) then
      call lapse_pull_if_local(worker, p%floats, 20_int64, values(:, 2:2), done)
      if (done) call expect(all(values(:, 2) == values(:, 1)), 'a local value as a matrix')
    end if
    call lapse_barrier(worker)  ! then it changes
    call lapse_localize_begin(worker, p%floats, keys, operation)
    call lapse_wait(operation)
    call lapse_update_if_local(worker, p%floats, 20_int64, c_funloc(add_one), done)
    call lapse_locality_of(worker, p%floats, 20_int64, where_it_is)
    call expect(where_it_is == lapse_local .or. where_it_is == lapse_not_local, 'a place')
    call lapse_barrier(worker)

    ! Together.
    total = 1
    call lapse_all_reduce(worker, total, lapse_sum)
    call expect(total(1) == workers, 'a sum')
    largest = lapse_worker_index(worker)
    call lapse_all_reduce(worker, largest, lapse_max)
    call expect(largest(1) == workers - 1, 'a maximum')
    ints = lapse_worker_index(worker)
    call lapse_broadcast(worker, ints, workers - 1)
    call expect(all(ints == workers - 1), 'a broadcast')
    values = real(lapse_worker_index(worker), real32)
    call lapse_broadcast(worker, values, workers - 1)
    call expect(all(values == workers - 1), 'a broadcast of a matrix')
    ierr = 0
  end subroutine access_values

  recursive subroutine lease_and_call(worker, context, ierr)
    type(lapse_worker), intent(in) :: worker
    type(c_ptr), intent(in) :: context
    integer, intent(inout) :: ierr
    type(tables_of_program), pointer :: p
    real(real32), target :: limits(2)
    integer(int32), target :: cleared(2)
    integer(int64), target :: visits
    integer(int64) :: sum_of_visits(1)
    integer :: status
    call c_f_pointer(context, p)
    if (.not. p%managed) then
      call use_lease(worker, p%floats)
      call lease_tables(worker, p%floats, p%longs)
      call give_large_matrix(worker, p%floats)
    end if
    call lapse_barrier(worker)
    if (lapse_worker_index(worker) == 0) then
      limits = 3
      cleared = -1
      call lapse_call(worker, p%floats, p%clear, [43_int64, 44_int64], c_loc(limits), c_loc(cleared))
      call expect(all(cleared == row), 'results of a function')
      call lapse_call(worker, p%floats, p%clear, [13_int64], c_loc(limits), c_loc(cleared), status)
      call expect_error(status, lapse_error_user_code, 'returned 4')
    end if
    call lapse_barrier(worker)
    visits = 0
    call lapse_for_each_local(worker, p%floats, c_funloc(count_visit), c_loc(visits))
    sum_of_visits = visits
    call lapse_all_reduce(worker, sum_of_visits, lapse_sum)
    call expect(sum_of_visits(1) == key_count, 'visits')
    ierr = 0
  end subroutine lease_and_call

  recursive subroutine misuse(worker, context, ierr)
    type(lapse_worker), intent(in) :: worker
    type(c_ptr), intent(in) :: context
    integer, intent(inout) :: ierr
    type(tables_of_program), pointer :: p
    type(lapse_table) :: none
    real(real32) :: value(row)
    real(real64) :: other(row)
    integer :: status
    call c_f_pointer(context, p)
    call lapse_pull(worker, p%floats, [50_int64], value, status)
    call expect_error(status, lapse_error_key, 'key 50')
    call lapse_pull(worker, p%floats, [1_int64], value(1:2), status)
    call expect_error(status, lapse_error_length, 'floats')
    call lapse_pull(worker, p%floats, [1_int64], other, status)
    call expect_error(status, lapse_error_usage, 'values of real(real64) for a table of real(real32)')
    call lapse_pull(worker, none, [1_int64], value, status)
    call expect_error(status, lapse_error_usage, 'table is NULL')
    ierr = 0
  end subroutine misuse

  recursive subroutine with_intents(worker, context, ierr)
    type(lapse_worker), intent(in) :: worker
    type(c_ptr), intent(in) :: context
    integer, intent(inout) :: ierr
    type(tables_of_program), pointer :: p
    type(lapse_sample) :: sample
    integer(int64) :: begin, clock, drawn(2)
    real(real32) :: ones(row), values(row, 2)
    call c_f_pointer(context, p)
    ones = 1
    call lapse_current_clock(worker, begin)
    do clock = begin, begin + 19
      call lapse_intent(worker, p%floats, [mod(clock, 50_int64)], clock, clock + 2)
      call lapse_intent_range(worker, p%floats, 10_int64, 15_int64, clock, clock + 1)
      call lapse_intent(worker, p%floats, [mod(clock, 50_int64)], clock + 1, clock + 3, read_only=.true.)
      call lapse_intent_range(worker, p%floats, 30_int64, 35_int64, clock, clock + 1, read_only=.true.)
      call lapse_push(worker, p%floats, [mod(clock, 50_int64)], ones)
      call lapse_sample_prepare(worker, p%sampler, 4, clock, clock + 3, sample)
      call lapse_sample_pull(worker, sample, drawn, values)
      call expect(all(drawn >= 0 .and. drawn < key_count), 'drawn keys')
      call lapse_sample_take(worker, sample, drawn)
      call lapse_sample_finish(sample)
      call lapse_advance_clock(worker)
    end do
    call lapse_current_clock(worker, clock)
    call expect(clock == begin + 20, 'a clock')
    ierr = 0
  end subroutine with_intents

  recursive subroutine one_fails(worker, context, ierr)
    type(lapse_worker), intent(in) :: worker
    type(c_ptr), intent(in) :: context
    integer, intent(inout) :: ierr
    integer :: status
    if (c_associated(context)) return
    if (lapse_worker_index(worker) == 0) then
      ierr = 17
    else
      call lapse_barrier(worker, status)
      if (status /= lapse_error_peer_failed) ierr = 1
    end if
  end subroutine one_fails
end module fortran_work

program fortran_program
  use mpi_f08
  use fortran_work
  implicit none
  type(tables_of_program), target :: p
  type(lapse_table) :: no_table
  character(200) :: folder
  integer, target :: own_rank
  integer :: provided, status
  call expect(len(lapse_version()) > 0 .and. lapse_last_error() == '', 'a version and no error')
  call get_command_argument(1, folder)
  call lapse_prepare_mpi()
  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided)
  call lapse_server_create(MPI_COMM_WORLD, p%server, ['lapse.stall_rebort=30'], status)
  call expect_error(status, lapse_error_configuration, 'stall_report')
  call lapse_server_create(MPI_COMM_WORLD, p%server, ['lapse.log_level'], status)
  call expect_error(status, lapse_error_configuration, 'name=value')
  call lapse_server_create(MPI_COMM_WORLD, p%server, [character(30) :: 'lapse.log_level=warning', 'lapse.stall_report=30'])
  call use_server()
  call save_and_load()
  call lapse_run_workers(p%server, 2, work_until_stopped, c_loc(p))
  call lapse_server_rank(p%server, own_rank)
  call lapse_set_hooks(log=count_failure, context=c_loc(own_rank))
  call lapse_run_workers(p%server, 2, one_fails, ierr=status)
  call expect_error(status, lapse_error_peer_failed, 'returned 17')
  call expect(lines == merge(1, 0, own_rank == 0), 'a message for the hook')
  call lapse_set_hooks()
  call close_server()
  call lapse_manager_create(MPI_COMM_WORLD%MPI_VAL, p%server)  ! as an integer
  p%managed = .true.
  call use_server()
  call lapse_set_frequencies(p%server, p%floats, [(7_int64, provided=1, key_count)])
  call lapse_set_frequencies(p%server, p%floats, [7_int64], status)
  call expect_error(status, lapse_error_usage, '50')
  call lapse_sampler_uniform(p%server, p%floats, 0_int64, int(key_count, int64), p%sampler)
  call lapse_run_workers(p%server, 2, with_intents, c_loc(p))
  call lapse_sampler_log_uniform(p%server, p%floats, 0_int64, 20_int64, p%sampler, lapse_naive, .false.)
  call lapse_run_here(p%server, with_intents, c_loc(p))
  call lapse_sampler_weighted(p%server, p%floats, 20_int64, [0.0_real64, 1.0_real64], p%sampler, lapse_pool)
  call lapse_sampler_uniform(p%server, p%floats, 0_int64, 20_int64, p%sampler, lapse_pool, postpone=.true., pool_keys=8, &
                             pool_uses=2, seed=7_int64)
  call lapse_sampler_weighted(p%server, p%floats, 20_int64, [real(real64) ::], p%sampler, ierr=status)
  call expect(status /= lapse_ok, 'a sampler without weights')
  call lapse_sampler_uniform(p%server, no_table, 0_int64, 1_int64, p%sampler, ierr=status)
  call expect(status /= lapse_ok .and. p%sampler%element == lapse_float, 'a sampler that was refused')
  call close_server()
  call use_policies()
  call control_job()
  call MPI_Finalize()

contains

  subroutine use_server()
    type(lapse_worker) :: worker
    type(lapse_table_spec) :: spec
    type(lapse_rule) :: rule
    real(real32), target :: offset
    integer(int64) :: before
    integer :: rank, ranks, length
    character(:), allocatable :: json
    call lapse_server_rank(p%server, rank, ranks)
    call expect(rank >= 0 .and. rank < ranks, 'a rank')
    offset = 0.25
    spec = lapse_table_spec(name='floats', keys=int(key_count, int64), length=row)
    spec%initialiser = lapse_initialise
    spec%initialise = c_funloc(initial)
    spec%initialise_context = c_loc(offset)
    spec%home = lapse_home_range
    call lapse_memory_use(p%server, before)
    call lapse_table_create(p%server, spec, p%floats)
    if (.not. p%managed) then  ! a manager gives values room for being copied
      spec%name = 'estimated'
      call ask_for_memory(p%server, p%floats, spec, before)
      spec%name = 'floats'
    end if
    call ask_for_hosts(p%server, ranks)
    call lapse_table_create(p%server, spec, p%doubles, status)
    call expect_error(status, lapse_error_configuration, 'floats')
    call lapse_table_create(p%server, lapse_table_spec(name='few', keys=-3_int64), p%doubles, status)
    call expect_error(status, lapse_error_configuration, '-3 keys')
    call lapse_server_create(MPI_COMM_WORLD, p%server, ierr=status)
    call expect_error(status, lapse_error_usage, 'server has not been ended')
    call lapse_rule_init(rule, lapse_sgd)
    rule%learning_rate = 1
    spec = lapse_table_spec(name='doubles', element=lapse_double, keys=int(key_count, int64), rule=rule)
    call lapse_table_create(p%server, spec, p%doubles)
    call lapse_table_create(p%server, lapse_table_spec(element=lapse_int32, keys=int(key_count, int64)), p%ints)
    call lapse_table_create(p%server, lapse_table_spec(name='longs', element=lapse_int64, sparse=.true.), p%longs)
    call lapse_table_length(p%floats, 3_int64, length)
    call expect(length == row, 'a length')
    call lapse_function_register(p%server, 'clear', lapse_float, 4, 4, c_funloc(clear_above), p%clear)
    call lapse_set_region_hooks(count_begin, count_end)
    call lapse_run_workers(p%server, 2, access_values, c_loc(p))
    call lapse_set_region_hooks()
    call expect(regions_begun >= 4 .and. regions_begun == regions_ended, 'regions')
    call lapse_run_here(p%server, lease_and_call, c_loc(p))
    call lapse_run_workers(p%server, 1, misuse, c_loc(p))
    call limit_pushes(p%server)
    call lapse_start_progress(p%server, 1)
    call lapse_attach(p%server, worker)
    call lapse_stop_progress(p%server, status)
    call expect_error(status, lapse_error_usage, '1 of 1')
    call lapse_progress(p%server)
    call lapse_mpi_lock(p%server)
    call lapse_mpi_unlock(p%server)
    call lapse_wait_sync(worker)
    call lapse_detach(worker)
    call lapse_stop_progress(p%server)
    call lapse_statistics_json(p%server, json)
    call expect(index(json, '"longs"') > 0, 'statistics')
  end subroutine use_server

  subroutine save_and_load()
    type(lapse_checkpoints) :: checkpoints
    integer(int64) :: step
    character(:), allocatable :: blob
    call lapse_checkpoints_create(p%server, folder, checkpoints, keep=2)
    call lapse_checkpoints_add(checkpoints, p%floats)
    call lapse_checkpoints_add(checkpoints, p%longs, 'other')
    call lapse_checkpoints_save(checkpoints, 4_int64, 'state')
    call lapse_checkpoints_save_begin(checkpoints, 5_int64)
    call lapse_checkpoints_finish(checkpoints)
    call expect(lapse_checkpoints_done(checkpoints), 'a checkpoint')
    call lapse_checkpoints_load(checkpoints, loaded=step, blob=blob)
    call expect(step == 5 .and. blob == '', 'the newest checkpoint')
    call lapse_checkpoints_load(checkpoints, 4_int64, blob=blob)
    call expect(blob == 'state', 'an older checkpoint')
    call load_parts(checkpoints)
    call lapse_checkpoints_load(checkpoints, 99_int64, ierr=status)
    call expect_error(status, lapse_error_checkpoint, '99')
    call lapse_checkpoints_free(checkpoints)
  end subroutine save_and_load

  subroutine close_server()
    call lapse_server_free(p%server, status)
    call expect_error(status, lapse_error_usage, 'before lapse_server_close')
    call lapse_server_close(p%server)
    call lapse_run_workers(p%server, 1, access_values, c_loc(p), status)
    call expect_error(status, lapse_error_closed, 'close')
    call lapse_server_free(p%server)
  end subroutine close_server
end program fortran_program
