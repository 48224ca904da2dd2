!> Servers and phases. Programs use module lapse.
module lapse_servers
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use mpi_f08, only: MPI_Comm
  use lapse_c
  use lapse_types
  implicit none
  private

  public :: lapse_prepare_mpi, lapse_server_create, lapse_manager_create, lapse_server_close
  public :: lapse_server_free, lapse_server_rank, lapse_statistics_json
  public :: lapse_memory_use, lapse_server_hosts, lapse_request_stop, lapse_stop_requested
  public :: lapse_run_workers, lapse_run_here, lapse_start_progress, lapse_stop_progress, lapse_attach
  public :: lapse_detach, lapse_detach_failed, lapse_progress, lapse_mpi_lock, lapse_mpi_unlock, lapse_work

  ! Collective. The communicator is one of mpi_f08, or an integer. Each option is a string "name=value".
  interface lapse_server_create
    module procedure server_create_f08, server_create_integer
  end interface lapse_server_create
  interface lapse_manager_create
    module procedure manager_create_f08, manager_create_integer
  end interface lapse_manager_create

  abstract interface
    !> The function of a worker, with the context given with it. ierr is 0 at the call; if it returns another number,
    !> the worker has failed, and the phase ends on every rank. Several threads may run it: it must be a recursive
    !> module procedure.
    subroutine lapse_work(worker, context, ierr)
      import :: lapse_worker, c_ptr
      type(lapse_worker), intent(in) :: worker
      type(c_ptr), intent(in) :: context
      integer, intent(inout) :: ierr
    end subroutine lapse_work
  end interface

  type :: work_call
    procedure(lapse_work), pointer, nopass :: work => null()
    type(c_ptr) :: context = c_null_ptr
  end type work_call

contains

  !> Call before MPI_Init. Sets the settings of the MPI library that this library works best with.
  subroutine lapse_prepare_mpi(ierr)
    integer, intent(out), optional :: ierr
    call finish(c_prepare_mpi(), ierr)
  end subroutine lapse_prepare_mpi

  subroutine server_create_f08(communicator, server, options, ierr)
    type(MPI_Comm), intent(in) :: communicator
    type(lapse_server), intent(inout) :: server
    character(*), intent(in), optional :: options(:)
    integer, intent(out), optional :: ierr
    call create(communicator%MPI_VAL, .false., server, options, ierr)
  end subroutine server_create_f08
  subroutine server_create_integer(communicator, server, options, ierr)
    integer, intent(in) :: communicator
    type(lapse_server), intent(inout) :: server
    character(*), intent(in), optional :: options(:)
    integer, intent(out), optional :: ierr
    call create(communicator, .false., server, options, ierr)
  end subroutine server_create_integer
  subroutine manager_create_f08(communicator, server, options, ierr)
    type(MPI_Comm), intent(in) :: communicator
    type(lapse_server), intent(inout) :: server
    character(*), intent(in), optional :: options(:)
    integer, intent(out), optional :: ierr
    call create(communicator%MPI_VAL, .true., server, options, ierr)
  end subroutine manager_create_f08
  subroutine manager_create_integer(communicator, server, options, ierr)
    integer, intent(in) :: communicator
    type(lapse_server), intent(inout) :: server
    character(*), intent(in), optional :: options(:)
    integer, intent(out), optional :: ierr
    call create(communicator, .true., server, options, ierr)
  end subroutine manager_create_integer

  subroutine create(communicator, managed, server, texts, ierr)
    integer, intent(in) :: communicator
    logical, intent(in) :: managed
    type(lapse_server), intent(inout) :: server
    character(*), intent(in), optional :: texts(:)
    integer, intent(out), optional :: ierr
    type(c_option), allocatable :: options(:)
    character(kind=c_char), allocatable, target :: characters(:, :)
    integer :: count, equal, i, j
    count = 0
    if (present(texts)) count = size(texts)
    allocate (options(count))
    if (count > 0) then
      allocate (characters(len(texts) + 1, count))
      do i = 1, count
        equal = index(texts(i), '=')
        if (equal == 0) then
          call refuse(lapse_error_configuration, &
                      "the option '"//trim(texts(i))//"' has no value: expected name=value", ierr)
          return
        end if
        characters(:, i) = c_null_char
        do j = 1, len_trim(texts(i))
          if (j /= equal) characters(j, i) = texts(i)(j:j)
        end do
        options(i)%name = c_loc(characters(1, i))
        options(i)%value = c_loc(characters(equal + 1, i))
      end do
    end if
    if (.not. unused(server%handle, 'server', ierr)) return
    if (managed) then
      call finish(c_manager_create(int(communicator, c_int), options, int(count, c_size_t), server%handle), ierr)
    else
      call finish(c_server_create(int(communicator, c_int), options, int(count, c_size_t), server%handle), ierr)
    end if
  end subroutine create

  !> Collective.
  subroutine lapse_server_close(server, ierr)
    type(lapse_server), intent(in) :: server
    integer, intent(out), optional :: ierr
    call finish(c_server_close(server%handle), ierr)
  end subroutine lapse_server_close

  !> Not collective. Call after lapse_server_close.
  subroutine lapse_server_free(server, ierr)
    type(lapse_server), intent(inout) :: server
    integer, intent(out), optional :: ierr
    if (succeeded(c_server_free(server%handle), ierr)) server%handle = c_null_ptr
  end subroutine lapse_server_free

  subroutine lapse_server_rank(server, rank, ranks, ierr)
    type(lapse_server), intent(in) :: server
    integer, intent(inout) :: rank
    integer, intent(inout), optional :: ranks
    integer, intent(out), optional :: ierr
    integer(c_int32_t) :: own, all
    if (succeeded(c_server_rank(server%handle, own, all), ierr)) then
      rank = int(own)
      if (present(ranks)) ranks = int(all)
    end if
  end subroutine lapse_server_rank

  !> Collective. The counters of all ranks, as JSON.
  subroutine lapse_statistics_json(server, json, ierr)
    type(lapse_server), intent(in) :: server
    character(:), allocatable, intent(inout) :: json
    integer, intent(out), optional :: ierr
    type(c_ptr) :: text
    text = c_null_ptr
    if (succeeded(c_statistics_json(server%handle, text), ierr)) then
      json = from_c(text)
      call c_free(text)
    end if
  end subroutine lapse_statistics_json

  !> Between phases. The memory of this rank for all tables and for messages, in bytes.
  subroutine lapse_memory_use(server, bytes, ierr)
    type(lapse_server), intent(in) :: server
    integer(int64), intent(inout) :: bytes
    integer, intent(out), optional :: ierr
    call finish(c_memory_use(server%handle, bytes), ierr)
  end subroutine lapse_memory_use

  !> For each rank the number of its host.
  subroutine lapse_server_hosts(server, hosts, ierr)
    type(lapse_server), intent(in) :: server
    integer(int32), intent(inout), contiguous :: hosts(:)
    integer, intent(out), optional :: ierr
    call finish(c_server_hosts(server%handle, hosts, size(hosts, kind=c_size_t)), ierr)
  end subroutine lapse_server_hosts

  !> Any thread. Asks the workers of all ranks to return early; this cannot be undone.
  subroutine lapse_request_stop(server, ierr)
    type(lapse_server), intent(in) :: server
    integer, intent(out), optional :: ierr
    call finish(c_request_stop(server%handle), ierr)
  end subroutine lapse_request_stop

  !> Any thread. Whether any rank has requested a stop.
  subroutine lapse_stop_requested(server, requested, ierr)
    type(lapse_server), intent(in) :: server
    logical, intent(inout) :: requested
    integer, intent(out), optional :: ierr
    integer(c_int) :: asked
    asked = 0
    if (succeeded(c_stop_requested(server%handle, asked), ierr)) requested = asked /= 0
  end subroutine lapse_stop_requested

  ! --- phases ---

  !> Collective. Runs work(worker, context, ierr) on this many threads of this rank.
  subroutine lapse_run_workers(server, workers, work, context, ierr)
    type(lapse_server), intent(in) :: server
    integer, intent(in) :: workers
    procedure(lapse_work) :: work
    type(c_ptr), intent(in), optional :: context
    integer, intent(out), optional :: ierr
    type(work_call), target :: call_of
    call_of%work => work
    if (present(context)) call_of%context = context
    call finish(c_run_workers(server%handle, int(workers, c_int32_t), c_funloc(do_work), c_loc(call_of)), ierr)
  end subroutine lapse_run_workers

  !> Collective. Runs work in the calling thread, this rank's only worker.
  subroutine lapse_run_here(server, work, context, ierr)
    type(lapse_server), intent(in) :: server
    procedure(lapse_work) :: work
    type(c_ptr), intent(in), optional :: context
    integer, intent(out), optional :: ierr
    type(work_call), target :: call_of
    call_of%work => work
    if (present(context)) call_of%context = context
    call finish(c_run_here(server%handle, c_funloc(do_work), c_loc(call_of)), ierr)
  end subroutine lapse_run_here

  recursive function do_work(handle, context) result(failed) bind(C, name='')
    type(c_ptr), value :: handle, context
    integer(c_int) :: failed
    type(work_call), pointer :: call_of
    type(lapse_worker) :: worker
    integer :: ierr
    call c_f_pointer(context, call_of)
    worker%handle = handle
    ierr = 0
    call call_of%work(worker, call_of%context, ierr)
    failed = int(ierr, c_int)
  end function do_work

  !> Collective. Begins a phase in which threads of the application may attach.
  subroutine lapse_start_progress(server, workers, ierr)
    type(lapse_server), intent(in) :: server
    integer, intent(in) :: workers
    integer, intent(out), optional :: ierr
    call finish(c_start_progress(server%handle, int(workers, c_int32_t)), ierr)
  end subroutine lapse_start_progress

  !> Collective.
  subroutine lapse_stop_progress(server, ierr)
    type(lapse_server), intent(in) :: server
    integer, intent(out), optional :: ierr
    call finish(c_stop_progress(server%handle), ierr)
  end subroutine lapse_stop_progress

  !> Makes this thread a worker, in the given place, from 0, or in the first free one.
  subroutine lapse_attach(server, worker, place, ierr)
    type(lapse_server), intent(in) :: server
    type(lapse_worker), intent(inout) :: worker
    integer, intent(in), optional :: place
    integer, intent(out), optional :: ierr
    integer(c_int32_t) :: wanted
    if (.not. unused(worker%handle, 'worker', ierr)) return
    wanted = -1
    if (present(place)) wanted = int(place, c_int32_t)
    call finish(c_attach(server%handle, wanted, worker%handle), ierr)
  end subroutine lapse_attach

  subroutine lapse_detach(worker, ierr)
    type(lapse_worker), intent(inout) :: worker
    integer, intent(out), optional :: ierr
    type(c_ptr) :: handle
    handle = worker%handle
    worker%handle = c_null_ptr
    call finish(c_detach(handle), ierr)
  end subroutine lapse_detach

  !> The same for a worker that has failed: ends the phase on every rank, with `reason`, by default
  !> lapse_last_error().
  subroutine lapse_detach_failed(worker, reason, ierr)
    type(lapse_worker), intent(inout) :: worker
    character(*), intent(in), optional :: reason
    integer, intent(out), optional :: ierr
    type(c_ptr) :: handle
    handle = worker%handle
    worker%handle = c_null_ptr
    if (present(reason)) then
      call finish(c_detach_failed(handle, to_c(reason)), ierr)
    else
      call finish(c_detach_failed(handle), ierr)
    end if
  end subroutine lapse_detach_failed

  subroutine lapse_progress(server, microseconds, ierr)
    type(lapse_server), intent(in) :: server
    integer(int64), intent(in), optional :: microseconds
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: limit
    limit = 0
    if (present(microseconds)) limit = microseconds
    call finish(c_progress(server%handle, limit), ierr)
  end subroutine lapse_progress

  !> No thread of a server is inside MPI until lapse_mpi_unlock.
  subroutine lapse_mpi_lock(server, ierr)
    type(lapse_server), intent(in) :: server
    integer, intent(out), optional :: ierr
    call finish(c_mpi_lock(server%handle), ierr)
  end subroutine lapse_mpi_lock
  subroutine lapse_mpi_unlock(server, ierr)
    type(lapse_server), intent(in) :: server
    integer, intent(out), optional :: ierr
    call finish(c_mpi_unlock(server%handle), ierr)
  end subroutine lapse_mpi_unlock
end module lapse_servers
