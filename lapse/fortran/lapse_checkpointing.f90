!> Checkpoints; programs use module lapse.
module lapse_checkpointing
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use lapse_c
  use lapse_types
  use lapse_checkpoint_c
  implicit none
  private

  public :: lapse_checkpoints_create, lapse_checkpoints_free, lapse_checkpoints_add, lapse_checkpoints_save
  public :: lapse_checkpoints_save_begin, lapse_checkpoints_finish, lapse_checkpoints_done
  public :: lapse_checkpoints_load, lapse_checkpoints_staged, lapse_checkpoints_release_memory
  public :: lapse_checkpoints_problem_count, lapse_checkpoints_problem, lapse_checkpoints_only_local
  public :: lapse_checkpoints_worker_count, lapse_checkpoints_worker_bytes, lapse_checkpoints_worker_clock
  public :: lapse_table_load

  !> What to load of one table, by its name in the checkpoint; by default all of it.
  type :: lapse_table_load
    character(:), allocatable :: table
    integer(int64) :: first_key = 0
    integer(int64) :: last_key = -1  ! included; -1: up to the largest key
    logical :: state = .true.        ! .false.: without the update rule's state; the rule may differ from the saved one
    logical :: convert = .false.     ! converts between float and double, and between int32 and int64
  end type lapse_table_load

contains

  !> keep: how many checkpoints stay; by default all.
  subroutine lapse_checkpoints_create(server, folder, checkpoints, local_folder, keep, ierr)
    type(lapse_server), intent(in) :: server
    character(*), intent(in) :: folder
    type(lapse_checkpoints), intent(inout) :: checkpoints
    character(*), intent(in), optional :: local_folder
    integer, intent(in), optional :: keep
    integer, intent(out), optional :: ierr
    integer(c_size_t) :: kept
    if (.not. unused(checkpoints%handle, 'set of checkpoints', ierr)) return
    kept = 0
    if (present(keep)) kept = int(keep, c_size_t)
    if (present(local_folder)) then
      call finish(c_checkpoints_create(server%handle, to_c(folder), to_c(local_folder), kept, &
                                       checkpoints%handle), ierr)
    else
      call finish(c_checkpoints_create(server%handle, to_c(folder), keep=kept, &
                                       checkpoints=checkpoints%handle), ierr)
    end if
  end subroutine lapse_checkpoints_create

  subroutine lapse_checkpoints_free(checkpoints)
    type(lapse_checkpoints), intent(inout) :: checkpoints
    call c_checkpoints_free(checkpoints%handle)
    checkpoints%handle = c_null_ptr
  end subroutine lapse_checkpoints_free

  subroutine lapse_checkpoints_add(checkpoints, table, name, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    type(lapse_table), intent(in) :: table
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: ierr
    if (present(name)) then
      call finish(c_checkpoints_add(checkpoints%handle, table%handle, to_c(name)), ierr)
    else
      call finish(c_checkpoints_add(checkpoints%handle, table%handle), ierr)
    end if
  end subroutine lapse_checkpoints_add

  !> Collective. `blob`: characters of rank 0 to save with the tables. per_worker, clocks: one for each worker of this
  !> rank, or none; all elements of per_worker have the same length.
  subroutine lapse_checkpoints_save(checkpoints, step, blob, per_worker, clocks, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    integer(int64), intent(in) :: step
    character(*, kind=c_char), intent(in), optional :: blob
    character(*, kind=c_char), intent(in), contiguous, optional :: per_worker(:)
    integer(int64), intent(in), contiguous, optional :: clocks(:)
    integer, intent(out), optional :: ierr
    call save_as(checkpoints, step, 0_c_int, blob, per_worker, clocks, ierr)
  end subroutine lapse_checkpoints_save

  !> Collective. Returns once the values are copied; the checkpoint exists after lapse_checkpoints_finish.
  subroutine lapse_checkpoints_save_begin(checkpoints, step, blob, per_worker, clocks, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    integer(int64), intent(in) :: step
    character(*, kind=c_char), intent(in), optional :: blob
    character(*, kind=c_char), intent(in), contiguous, optional :: per_worker(:)
    integer(int64), intent(in), contiguous, optional :: clocks(:)
    integer, intent(out), optional :: ierr
    call save_as(checkpoints, step, 1_c_int, blob, per_worker, clocks, ierr)
  end subroutine lapse_checkpoints_save_begin

  subroutine save_as(checkpoints, step, begins, blob, per_worker, clocks, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    integer(int64), intent(in) :: step
    integer(c_int), intent(in) :: begins
    character(*, kind=c_char), intent(in), target, optional :: blob
    character(*, kind=c_char), intent(in), contiguous, target, optional :: per_worker(:)
    integer(int64), intent(in), contiguous, target, optional :: clocks(:)
    integer, intent(out), optional :: ierr
    type(c_checkpoint_content) :: content
    type(c_bytes), allocatable, target :: bytes(:)
    integer :: i
    call c_checkpoint_content_init(content)
    if (present(blob)) then
      if (len(blob) > 0) content%blob = c_bytes(c_loc(blob), len(blob, kind=c_size_t))
    end if
    if (present(per_worker)) then
      allocate (bytes(size(per_worker)))
      do i = 1, size(per_worker)
        bytes(i) = c_bytes(c_loc(per_worker(i)), len(per_worker, kind=c_size_t))
      end do
      if (size(per_worker) > 0) content%per_worker = c_loc(bytes(1))
      content%per_worker_count = size(per_worker, kind=c_size_t)
    end if
    if (present(clocks)) then
      if (size(clocks) > 0) content%clocks = c_loc(clocks(1))
      content%clock_count = size(clocks, kind=c_size_t)
    end if
    call finish(c_checkpoints_save_as(checkpoints%handle, step, content, begins), ierr)
  end subroutine save_as

  !> Collective.
  subroutine lapse_checkpoints_finish(checkpoints, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    integer, intent(out), optional :: ierr
    call finish(c_checkpoints_finish(checkpoints%handle), ierr)
  end subroutine lapse_checkpoints_finish

  logical function lapse_checkpoints_done(checkpoints)
    type(lapse_checkpoints), intent(in) :: checkpoints
    lapse_checkpoints_done = c_checkpoints_done(checkpoints%handle) /= 0
  end function lapse_checkpoints_done

  !> Whether this rank's part of the last checkpoint is on a disk.
  logical function lapse_checkpoints_staged(checkpoints)
    type(lapse_checkpoints), intent(in) :: checkpoints
    lapse_checkpoints_staged = c_checkpoints_staged(checkpoints%handle) /= 0
  end function lapse_checkpoints_staged

  !> Frees the memory of the last copy, unless it is still being written.
  subroutine lapse_checkpoints_release_memory(checkpoints, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    integer, intent(out), optional :: ierr
    call finish(c_checkpoints_release_memory(checkpoints%handle), ierr)
  end subroutine lapse_checkpoints_release_memory

  !> Collective. step: default the newest. folder: of another job's checkpoints. tables: only these; default all
  !> added. is_fallback, with a step: newer checkpoints could not be loaded; they are no abandoned branch.
  !> grow: tables may have more keys than were saved; those behind the saved ones stay as they are.
  subroutine lapse_checkpoints_load(checkpoints, step, loaded, blob, folder, tables, is_fallback, grow, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    integer(int64), intent(in), optional :: step
    integer(int64), intent(inout), optional :: loaded
    character(:), allocatable, intent(inout), optional :: blob
    character(*), intent(in), optional :: folder
    type(lapse_table_load), intent(in), optional :: tables(:)
    logical, intent(in), optional :: is_fallback, grow
    integer, intent(out), optional :: ierr
    type(c_load_request) :: request
    type(c_table_load), allocatable, target :: parts(:)
    character(:, kind=c_char), allocatable, target :: from, names
    integer(c_int64_t), target :: wanted
    integer(c_int64_t) :: step_loaded
    type(c_ptr) :: bytes
    integer(c_size_t) :: count
    integer(c_int) :: status
    logical :: grows
    call c_load_request_init(request)
    if (present(step)) then
      wanted = step
      request%step = c_loc(wanted)
    end if
    if (present(folder)) then
      from = to_c(folder)
      request%folder = c_loc(from)
    end if
    if (present(tables)) then
      call make_parts(tables, names, parts)
      if (size(parts) > 0) request%tables = c_loc(parts(1))
      request%table_count = size(parts, kind=c_size_t)
    end if
    if (present(is_fallback)) request%is_fallback = merge(1_c_int, 0_c_int, is_fallback)
    grows = .false.
    if (present(grow)) grows = grow
    if (grows) then
      status = c_checkpoints_load_grown(checkpoints%handle, request, step_loaded, bytes, count)
    else
      status = c_checkpoints_load(checkpoints%handle, request, step_loaded, bytes, count)
    end if
    if (succeeded(status, ierr)) then
      if (present(loaded)) loaded = step_loaded
      if (present(blob)) then
        blob = text_of(bytes, count)
      end if
    end if
  end subroutine lapse_checkpoints_load

  !> Converts them to C structures. `names` holds their names, one after the other.
  subroutine make_parts(tables, names, parts)
    type(lapse_table_load), intent(in) :: tables(:)
    character(:, kind=c_char), allocatable, target, intent(inout) :: names
    type(c_table_load), allocatable, intent(inout) :: parts(:)
    integer :: at(size(tables)), i
    names = ''
    do i = 1, size(tables)
      at(i) = len(names) + 1
      if (allocated(tables(i)%table)) names = names//to_c(tables(i)%table)
    end do
    allocate (parts(size(tables)))
    do i = 1, size(tables)
      call c_table_load_init(parts(i), c_null_ptr)
      if (allocated(tables(i)%table)) parts(i)%table = c_loc(names(at(i):at(i)))
      parts(i)%first_key = tables(i)%first_key
      if (tables(i)%last_key /= -1) parts(i)%last_key = tables(i)%last_key
      parts(i)%state = merge(1_c_int, 0_c_int, tables(i)%state)
      parts(i)%convert = merge(1_c_int, 0_c_int, tables(i)%convert)
    end do
  end subroutine make_parts

  ! --- about the last load ---

  !> For how many workers it has bytes and clocks: for all at the time of the save, or for none.
  subroutine lapse_checkpoints_worker_count(checkpoints, bytes, clocks, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    integer, intent(inout), optional :: bytes, clocks
    integer, intent(out), optional :: ierr
    integer(c_size_t) :: with_bytes, with_clocks
    if (succeeded(c_worker_count(checkpoints%handle, with_bytes, with_clocks), ierr)) then
      if (present(bytes)) bytes = int(with_bytes)
      if (present(clocks)) clocks = int(with_clocks)
    end if
  end subroutine lapse_checkpoints_worker_count

  logical function is_worker(worker, ierr)
    integer, intent(in) :: worker
    integer, intent(out), optional :: ierr
    is_worker = worker >= 0
    if (.not. is_worker) call refuse(lapse_error_usage, 'a worker by a number below 0', ierr)
  end function is_worker

  !> Of a worker, from 0.
  subroutine lapse_checkpoints_worker_bytes(checkpoints, worker, bytes, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    integer, intent(in) :: worker
    character(:), allocatable, intent(inout) :: bytes
    integer, intent(out), optional :: ierr
    type(c_ptr) :: data
    integer(c_size_t) :: count
    if (.not. is_worker(worker, ierr)) return
    if (succeeded(c_worker_bytes(checkpoints%handle, int(worker, c_size_t), data, count), ierr)) &
      bytes = text_of(data, count)
  end subroutine lapse_checkpoints_worker_bytes

  !> Of a worker, from 0.
  subroutine lapse_checkpoints_worker_clock(checkpoints, worker, clock, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    integer, intent(in) :: worker
    integer(int64), intent(inout) :: clock
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: found
    if (.not. is_worker(worker, ierr)) return
    if (succeeded(c_worker_clock(checkpoints%handle, int(worker, c_size_t), found), ierr)) clock = found
  end subroutine lapse_checkpoints_worker_clock

  !> How many newer checkpoints were skipped.
  subroutine lapse_checkpoints_problem_count(checkpoints, count, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    integer, intent(inout) :: count
    integer, intent(out), optional :: ierr
    integer(c_size_t) :: problems
    if (succeeded(c_problem_count(checkpoints%handle, problems), ierr)) count = int(problems)
  end subroutine lapse_checkpoints_problem_count

  !> The skipped checkpoint number i, from 1, and the reason.
  subroutine lapse_checkpoints_problem(checkpoints, i, text, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    integer, intent(in) :: i
    character(:), allocatable, intent(inout) :: text
    integer, intent(out), optional :: ierr
    type(c_ptr) :: problem
    if (succeeded(c_problem(checkpoints%handle, int(i - 1, c_size_t), problem), ierr)) text = from_c(problem)
  end subroutine lapse_checkpoints_problem

  !> Whether the folder of all ranks lacks the loaded checkpoint.
  subroutine lapse_checkpoints_only_local(checkpoints, only_local, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    logical, intent(inout) :: only_local
    integer, intent(out), optional :: ierr
    integer(c_int) :: was
    if (succeeded(c_only_local(checkpoints%handle, was), ierr)) only_local = was /= 0
  end subroutine lapse_checkpoints_only_local
end module lapse_checkpointing
