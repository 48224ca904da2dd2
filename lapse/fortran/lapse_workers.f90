!> Calls of workers, except those with values. Programs use module lapse.
module lapse_workers
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use lapse_c
  use lapse_types
  use lapse_worker_c
  implicit none
  private

  public :: lapse_worker_index, lapse_worker_count, lapse_worker_local_index, lapse_worker_local_count
  public :: lapse_localize, lapse_localize_begin, lapse_call, lapse_operation_done, lapse_wait
  public :: lapse_operation_free, lapse_update_if_local, lapse_locality_of, lapse_for_each_local
  public :: lapse_lease_keys, lapse_lease_tables, lapse_lease_release, lapse_wait_all, lapse_wait_sync, lapse_barrier
  public :: lapse_sync_barrier, lapse_all_reduce

  !> Collective over all workers.
  interface lapse_all_reduce
    module procedure all_reduce_double, all_reduce_int64
  end interface lapse_all_reduce

contains

  !> Indices start at 0, as in C.
  integer function lapse_worker_index(worker)
    type(lapse_worker), intent(in) :: worker
    lapse_worker_index = int(c_worker_index(worker%handle))
  end function lapse_worker_index
  integer function lapse_worker_count(worker)
    type(lapse_worker), intent(in) :: worker
    lapse_worker_count = int(c_worker_count(worker%handle))
  end function lapse_worker_count
  integer function lapse_worker_local_index(worker)
    type(lapse_worker), intent(in) :: worker
    lapse_worker_local_index = int(c_worker_local_index(worker%handle))
  end function lapse_worker_local_index
  integer function lapse_worker_local_count(worker)
    type(lapse_worker), intent(in) :: worker
    lapse_worker_local_count = int(c_worker_local_count(worker%handle))
  end function lapse_worker_local_count

  subroutine lapse_localize(worker, table, keys, ierr)
    type(lapse_worker), intent(in) :: worker
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in), contiguous, target :: keys(:)
    integer, intent(out), optional :: ierr
    call finish(c_localize(worker%handle, table%handle, address_of_keys(keys), size(keys, kind=c_size_t)), ierr)
  end subroutine lapse_localize

  subroutine lapse_localize_begin(worker, table, keys, operation, ierr)
    type(lapse_worker), intent(in) :: worker
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in), contiguous, target :: keys(:)
    type(lapse_operation), intent(inout), optional :: operation
    integer, intent(out), optional :: ierr
    if (present(operation)) then
      if (.not. unused(operation%handle, 'operation', ierr)) return
      call finish(c_localize_begin(worker%handle, table%handle, address_of_keys(keys), &
                                   size(keys, kind=c_size_t), operation%handle), ierr)
    else
      call finish(c_localize_begin(worker%handle, table%handle, address_of_keys(keys), &
                                   size(keys, kind=c_size_t)), ierr)
    end if
  end subroutine lapse_localize_begin

  !> `arguments`, `results`: c_loc of the function's bytes for each key, or c_null_ptr.
  subroutine lapse_call(worker, table, run, keys, arguments, results, ierr)
    type(lapse_worker), intent(in) :: worker
    type(lapse_table), intent(in) :: table
    type(lapse_function), intent(in) :: run
    integer(int64), intent(in), contiguous, target :: keys(:)
    type(c_ptr), intent(in) :: arguments, results
    integer, intent(out), optional :: ierr
    call finish(c_call(worker%handle, table%handle, run%handle, address_of_keys(keys), &
                       size(keys, kind=c_size_t), arguments, results), ierr)
  end subroutine lapse_call

  logical function lapse_operation_done(operation)
    type(lapse_operation), intent(in) :: operation
    lapse_operation_done = c_operation_done(operation%handle) /= 0
  end function lapse_operation_done

  !> Waits, and frees the handle, also if the operation fails.
  subroutine lapse_wait(operation, ierr)
    type(lapse_operation), intent(inout) :: operation
    integer, intent(out), optional :: ierr
    type(c_ptr) :: handle
    handle = operation%handle
    operation%handle = c_null_ptr
    call finish(c_wait(handle), ierr)
  end subroutine lapse_wait

  !> Frees the handle without waiting; the answer of a pull is discarded.
  subroutine lapse_operation_free(operation)
    type(lapse_operation), intent(inout) :: operation
    call c_operation_free(operation%handle)
    operation%handle = c_null_ptr
  end subroutine lapse_operation_free

  !> `update`: c_funloc of a bind(C) function(context, value, length), which returns 0.
  subroutine lapse_update_if_local(worker, table, key, update, done, context, ierr)
    type(lapse_worker), intent(in) :: worker
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in) :: key
    type(c_funptr), value :: update
    logical, intent(inout) :: done
    type(c_ptr), intent(in), optional :: context
    integer, intent(out), optional :: ierr
    type(c_ptr) :: given
    integer(c_int) :: was
    given = c_null_ptr
    if (present(context)) given = context
    was = 0
    if (succeeded(c_update_if_local(worker%handle, table%handle, key, update, given, was), ierr)) done = was /= 0
  end subroutine lapse_update_if_local

  subroutine lapse_locality_of(worker, table, key, locality, ierr)
    type(lapse_worker), intent(in) :: worker
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in) :: key
    integer(c_int), intent(inout) :: locality
    integer, intent(out), optional :: ierr
    call finish(c_locality_of(worker%handle, table%handle, key, locality), ierr)
  end subroutine lapse_locality_of

  !> `visit`: c_funloc of a bind(C) function(context, key, value, length), which returns 0.
  subroutine lapse_for_each_local(worker, table, visit, context, ierr)
    type(lapse_worker), intent(in) :: worker
    type(lapse_table), intent(in) :: table
    type(c_funptr), value :: visit
    type(c_ptr), intent(in), optional :: context
    integer, intent(out), optional :: ierr
    type(c_ptr) :: given
    given = c_null_ptr
    if (present(context)) given = context
    call finish(c_for_each_local(worker%handle, table%handle, visit, given), ierr)
  end subroutine lapse_for_each_local

  ! --- leases ---

  subroutine lapse_lease_keys(worker, table, keys, lease, ierr)
    type(lapse_worker), intent(in) :: worker
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in), contiguous, target :: keys(:)
    type(lapse_lease), intent(inout) :: lease
    integer, intent(out), optional :: ierr
    call take_lease(worker, [c_lease_part(table%handle, address_of_keys(keys), size(keys, kind=c_size_t))], &
                    [table%element], lease, ierr)
  end subroutine lapse_lease_keys

  !> The same for several tables at once, each named once. Key indices count through all parts.
  subroutine lapse_lease_tables(worker, parts, lease, ierr)
    type(lapse_worker), intent(in) :: worker
    type(lapse_lease_part), intent(in), target :: parts(:)
    type(lapse_lease), intent(inout) :: lease
    integer, intent(out), optional :: ierr
    type(c_lease_part) :: given(size(parts))
    integer(c_int) :: elements(size(parts))
    integer :: i
    do i = 1, size(parts)
      given(i) = c_lease_part(parts(i)%table%handle, c_null_ptr, 0)
      elements(i) = parts(i)%table%element
      if (.not. allocated(parts(i)%keys)) cycle
      given(i)%keys = address_of_keys(parts(i)%keys)
      given(i)%count = size(parts(i)%keys, kind=c_size_t)
    end do
    call take_lease(worker, given, elements, lease, ierr)
  end subroutine lapse_lease_tables

  subroutine take_lease(worker, parts, elements, lease, ierr)
    type(lapse_worker), intent(in) :: worker
    type(c_lease_part), intent(in) :: parts(:)
    integer(c_int), intent(in) :: elements(:)
    type(lapse_lease), intent(inout) :: lease
    integer, intent(out), optional :: ierr
    integer :: i
    if (.not. unused(lease%handle, 'lease', ierr)) return
    if (succeeded(c_lease_tables(worker%handle, parts, size(parts, kind=c_size_t), lease%handle), ierr)) then
      lease%elements = elements
      lease%ends = [(sum(int(parts(:i)%count, int64)), i=1, size(parts))]
    end if
  end subroutine take_lease

  subroutine lapse_lease_release(lease, ierr)
    type(lapse_lease), intent(inout) :: lease
    integer, intent(out), optional :: ierr
    type(c_ptr) :: handle
    handle = lease%handle
    lease%handle = c_null_ptr
    call finish(c_lease_release(handle), ierr)
  end subroutine lapse_lease_release

  ! --- collective ---

  subroutine lapse_wait_all(worker, ierr)
    type(lapse_worker), intent(in) :: worker
    integer, intent(out), optional :: ierr
    call finish(c_wait_all(worker%handle), ierr)
  end subroutine lapse_wait_all
  subroutine lapse_wait_sync(worker, ierr)
    type(lapse_worker), intent(in) :: worker
    integer, intent(out), optional :: ierr
    call finish(c_wait_sync(worker%handle), ierr)
  end subroutine lapse_wait_sync
  !> Collective over all workers.
  subroutine lapse_barrier(worker, ierr)
    type(lapse_worker), intent(in) :: worker
    integer, intent(out), optional :: ierr
    call finish(c_barrier(worker%handle), ierr)
  end subroutine lapse_barrier
  !> Collective over all workers.
  subroutine lapse_sync_barrier(worker, ierr)
    type(lapse_worker), intent(in) :: worker
    integer, intent(out), optional :: ierr
    call finish(c_sync_barrier(worker%handle), ierr)
  end subroutine lapse_sync_barrier

  subroutine all_reduce_double(worker, values, reduce, ierr)
    type(lapse_worker), intent(in) :: worker
    real(real64), intent(inout), contiguous :: values(:)
    integer(c_int), intent(in) :: reduce
    integer, intent(out), optional :: ierr
    call finish(c_all_reduce_double(worker%handle, values, size(values, kind=c_size_t), reduce), ierr)
  end subroutine all_reduce_double
  subroutine all_reduce_int64(worker, values, reduce, ierr)
    type(lapse_worker), intent(in) :: worker
    integer(int64), intent(inout), contiguous :: values(:)
    integer(c_int), intent(in) :: reduce
    integer, intent(out), optional :: ierr
    call finish(c_all_reduce_int64(worker%handle, values, size(values, kind=c_size_t), reduce), ierr)
  end subroutine all_reduce_int64
end module lapse_workers
