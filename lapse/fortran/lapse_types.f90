!> Handles, errors and strings. Programs use module lapse.
module lapse_types
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  use lapse_c
  implicit none
  private

  public :: lapse_server, lapse_table, lapse_function, lapse_worker, lapse_operation, lapse_lease
  public :: lapse_lease_part, lease_element
  public :: lapse_checkpoints, lapse_sampler, lapse_sample
  public :: lapse_last_error, lapse_version, finish, succeeded, refuse, unused, to_c, from_c, text_of, &
            address_of_keys

  ! For the handles and how long they are valid, see lapse/c/status.h.
  type :: lapse_server
    type(c_ptr) :: handle = c_null_ptr
  end type lapse_server
  type :: lapse_table
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int) :: element = -1
  end type lapse_table
  type :: lapse_function
    type(c_ptr) :: handle = c_null_ptr
  end type lapse_function
  type :: lapse_worker
    type(c_ptr) :: handle = c_null_ptr
  end type lapse_worker
  type :: lapse_operation
    type(c_ptr) :: handle = c_null_ptr
  end type lapse_operation
  type :: lapse_lease
    type(c_ptr) :: handle = c_null_ptr
    ! For each table: its element type, and the number of keys up to its last one.
    integer(c_int), allocatable :: elements(:)
    integer(int64), allocatable :: ends(:)
  end type lapse_lease
  !> Keys of one table, for lapse_lease_tables.
  type :: lapse_lease_part
    type(lapse_table) :: table
    integer(int64), allocatable :: keys(:)
  end type lapse_lease_part
  type :: lapse_checkpoints
    type(c_ptr) :: handle = c_null_ptr
  end type lapse_checkpoints
  type :: lapse_sampler
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int) :: element = -1
  end type lapse_sampler
  type :: lapse_sample
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int) :: element = -1
  end type lapse_sample

contains

  ! The lengths of functions' results are expressions. Where a result has a deferred length, gfortran 12 keeps it in
  ! memory that all threads share, in every caller.

  !> The message of this thread's last failed call.
  function lapse_last_error() result(text)
    character(c_strlen(c_last_error())) :: text
    text = from_c(c_last_error())
  end function lapse_last_error

  !> The version of the running library, such as "0.1.0".
  function lapse_version() result(text)
    character(c_strlen(c_version(c_null_ptr, c_null_ptr, c_null_ptr))) :: text
    text = from_c(c_version(c_null_ptr, c_null_ptr, c_null_ptr))
  end function lapse_version

  !> Ends a call. Returns its status if the caller passes ierr; otherwise a failure ends the program.
  subroutine finish(status, ierr)
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: ierr
    if (present(ierr)) then
      ierr = int(status)
    else if (status /= lapse_ok) then
      call stop_with(lapse_last_error())
    end if
  end subroutine finish

  !> The same. Returns whether the call has succeeded.
  logical function succeeded(status, ierr)
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: ierr
    call finish(status, ierr)
    succeeded = status == lapse_ok
  end function succeeded

  !> Ends a call with invalid arguments.
  subroutine refuse(status, text, ierr)
    integer, intent(in) :: status
    character(*), intent(in) :: text
    integer, intent(out), optional :: ierr
    if (present(ierr)) then
      ierr = int(c_fail(int(status, c_int), to_c(text)))
    else
      call stop_with(text)
    end if
  end subroutine refuse

  !> Whether the handle is unused. If not, refuses the call: overwriting it would leak the old handle.
  logical function unused(handle, kind, ierr)
    type(c_ptr), intent(in) :: handle
    character(*), intent(in) :: kind
    integer, intent(out), optional :: ierr
    unused = .not. c_associated(handle)
    if (.not. unused) call refuse(lapse_error_usage, 'a variable whose '//kind//' has not been ended, or freed', ierr)
  end function unused

  !> The element type of key i; negative if the lease has no such key; then the library reports it.
  integer(c_int) function lease_element(lease, i)
    type(lapse_lease), intent(in) :: lease
    integer, intent(in) :: i
    integer :: part
    lease_element = -1
    if (.not. allocated(lease%ends)) return
    part = findloc(lease%ends >= i, .true., dim=1)
    if (part > 0) lease_element = lease%elements(part)
  end function lease_element

  subroutine stop_with(text)
    character(*), intent(in) :: text
    write (error_unit, '(2a)') 'lapse: ', text
    error stop 1
  end subroutine stop_with

  pure function to_c(text) result(ended)
    character(*), intent(in) :: text
    character(len_trim(text) + 1, kind=c_char) :: ended
    ended = trim(text)//c_null_char
  end function to_c

  !> Of a null-terminated text.
  function from_c(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(c_strlen(text)) :: copy
    copy = text_of(text, c_strlen(text))
  end function from_c

  function text_of(bytes, count) result(text)
    type(c_ptr), intent(in) :: bytes
    integer(c_size_t), intent(in) :: count
    character(count) :: text
    character(kind=c_char), pointer :: characters(:)
    integer(c_size_t) :: i
    call c_f_pointer(bytes, characters, [count])
    do i = 1, count
      text(i:i) = characters(i)
    end do
  end function text_of

  function address_of_keys(keys) result(address)
    integer(int64), intent(in), contiguous, target :: keys(:)
    type(c_ptr) :: address
    address = c_null_ptr
    if (size(keys, kind=c_size_t) > 0) address = c_loc(keys(1))
  end function address_of_keys
end module lapse_types
