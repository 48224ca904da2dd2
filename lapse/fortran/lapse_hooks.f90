!> Hooks for messages, fatal errors and regions. Programs use module lapse.
module lapse_hooks
  use, intrinsic :: iso_c_binding
  use lapse_c
  use lapse_types
  implicit none
  private

  public :: lapse_set_hooks, lapse_set_region_hooks, lapse_trace_band, lapse_trace_note, lapse_log, lapse_fatal, lapse_region

  ! Any thread calls these, several at a time, with locks of the library held. They must be recursive module
  ! procedures that return soon and do not call the library. They get the context given with them.
  abstract interface
    !> Gets a message, instead of standard error. level: 0 error, 1 warning, 2 info, 3 debug.
    subroutine lapse_log(level, rank, message, context)
      import :: c_ptr
      integer, intent(in) :: level, rank
      character(*), intent(in) :: message
      type(c_ptr), intent(in) :: context
    end subroutine lapse_log
    !> Called before the library ends the job with MPI_Abort.
    subroutine lapse_fatal(rank, reason, context)
      import :: c_ptr
      integer, intent(in) :: rank
      character(*), intent(in) :: reason
      type(c_ptr), intent(in) :: context
    end subroutine lapse_fatal
    !> docs/regions.md lists the names.
    subroutine lapse_region(name, context)
      import :: c_ptr
      character(*), intent(in) :: name
      type(c_ptr), intent(in) :: context
    end subroutine lapse_region
  end interface

  type :: hook_calls
    procedure(lapse_log), pointer, nopass :: log => null()
    procedure(lapse_fatal), pointer, nopass :: fatal => null()
    procedure(lapse_region), pointer, nopass :: begin_region => null()
    procedure(lapse_region), pointer, nopass :: end_region => null()
    type(c_ptr) :: context = c_null_ptr
  end type hook_calls

contains

  !> Sets hooks for all servers of the process; an absent argument removes the hook. Earlier hooks may still be called
  !> for messages that are being logged.
  subroutine lapse_set_hooks(log, fatal, context, ierr)
    procedure(lapse_log), optional :: log
    procedure(lapse_fatal), optional :: fatal
    type(c_ptr), intent(in), optional :: context
    integer, intent(out), optional :: ierr
    type(hook_calls), pointer :: calls
    type(c_funptr) :: c_log, c_fatal
    calls => new_calls(context)
    c_log = c_null_funptr
    c_fatal = c_null_funptr
    if (present(log)) then
      calls%log => log
      c_log = c_funloc(do_log)
    end if
    if (present(fatal)) then
      calls%fatal => fatal
      c_fatal = c_funloc(do_fatal)
    end if
    call finish(c_set_hooks(c_log, c_fatal, c_loc(calls)), ierr)
  end subroutine lapse_set_hooks

  !> Likewise, around regions that take a thread's time.
  subroutine lapse_set_region_hooks(begin_region, end_region, context, ierr)
    procedure(lapse_region), optional :: begin_region, end_region
    type(c_ptr), intent(in), optional :: context
    integer, intent(out), optional :: ierr
    type(hook_calls), pointer :: calls
    type(c_funptr) :: c_begin, c_end
    calls => new_calls(context)
    c_begin = c_null_funptr
    c_end = c_null_funptr
    if (present(begin_region)) then
      calls%begin_region => begin_region
      c_begin = c_funloc(do_begin_region)
    end if
    if (present(end_region)) then
      calls%end_region => end_region
      c_end = c_funloc(do_end_region)
    end if
    call finish(c_set_region_hooks(c_begin, c_end, c_loc(calls)), ierr)
  end subroutine lapse_set_region_hooks

  !> A named interval in traces of allocation, such as an epoch, that has taken these seconds and ends now.
  subroutine lapse_trace_band(name, seconds, ierr)
    character(*), intent(in) :: name
    real(c_double), intent(in) :: seconds
    integer, intent(out), optional :: ierr
    call finish(c_trace_band(to_c(name), seconds), ierr)
  end subroutine lapse_trace_band

  !> A property of the run in traces of allocation; the last value of a name counts.
  subroutine lapse_trace_note(name, value, ierr)
    character(*), intent(in) :: name, value
    integer, intent(out), optional :: ierr
    call finish(c_trace_note(to_c(name), to_c(value)), ierr)
  end subroutine lapse_trace_note

  !> Never freed: threads may still be in replaced hooks.
  function new_calls(context) result(calls)
    type(c_ptr), intent(in), optional :: context
    type(hook_calls), pointer :: calls
    allocate (calls)
    if (present(context)) calls%context = context
  end function new_calls

  recursive subroutine do_log(context, level, rank, message) bind(C, name='')
    type(c_ptr), value :: context, message
    integer(c_int), value :: level
    integer(c_int32_t), value :: rank
    type(hook_calls), pointer :: calls
    call c_f_pointer(context, calls)
    call calls%log(int(level), int(rank), from_c(message), calls%context)
  end subroutine do_log

  recursive subroutine do_fatal(context, rank, reason) bind(C, name='')
    type(c_ptr), value :: context, reason
    integer(c_int32_t), value :: rank
    type(hook_calls), pointer :: calls
    call c_f_pointer(context, calls)
    call calls%fatal(int(rank), from_c(reason), calls%context)
  end subroutine do_fatal

  recursive subroutine do_begin_region(context, name) bind(C, name='')
    type(c_ptr), value :: context, name
    type(hook_calls), pointer :: calls
    call c_f_pointer(context, calls)
    call calls%begin_region(from_c(name), calls%context)
  end subroutine do_begin_region

  recursive subroutine do_end_region(context, name) bind(C, name='')
    type(c_ptr), value :: context, name
    type(hook_calls), pointer :: calls
    call c_f_pointer(context, calls)
    call calls%end_region(from_c(name), calls%context)
  end subroutine do_end_region
end module lapse_hooks
