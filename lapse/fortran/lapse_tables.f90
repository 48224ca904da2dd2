!> Tables, update rules and functions. Programs use module lapse.
module lapse_tables
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use lapse_c
  use lapse_types
  implicit none
  private

  public :: lapse_table_spec, lapse_rule_init, lapse_table_create, lapse_table_length
  public :: lapse_function_register, lapse_estimate_memory, lapse_table_memory_use

  !> The specification of a table, equal on all ranks. lapse/c/table.h documents the components. Functions are bind(C)
  !> procedures, given by c_funloc.
  type :: lapse_table_spec
    character(:), allocatable :: name
    integer(c_int) :: element = lapse_float
    integer(int64) :: keys = 0
    logical :: sparse = .false.
    integer :: length = 1
    integer(int64) :: seed = 0
    integer(c_int) :: initialiser = lapse_zero
    real(real64) :: first = 0
    real(real64) :: second = 0
    type(c_funptr) :: initialise = c_null_funptr
    type(c_ptr) :: initialise_context = c_null_ptr
    type(c_funptr) :: lengths = c_null_funptr
    type(c_ptr) :: lengths_context = c_null_ptr
    integer(int64) :: max_keys = 0
    integer(int64) :: memory_limit_bytes = 0
    integer(c_int) :: home = lapse_home_hash
    type(c_funptr) :: home_function = c_null_funptr
    type(c_ptr) :: home_context = c_null_ptr
    type(lapse_rule) :: rule = lapse_rule()  ! default: addition
    integer(c_int) :: location_caches = lapse_default
    integer(c_int) :: consistency = lapse_consistency_default
    character(:), allocatable :: policy  ! such as 'cap(2)', instead of consistency
    integer(c_int) :: not_finite = lapse_not_finite_allow
    real(real64) :: max_push_norm = 0  ! 0: none
  end type lapse_table_spec

contains

  !> The defaults of the kind.
  subroutine lapse_rule_init(rule, kind)
    type(lapse_rule), intent(inout) :: rule
    integer(c_int), intent(in) :: kind
    call c_rule_init(rule, kind)
  end subroutine lapse_rule_init

  !> Collective.
  subroutine lapse_table_create(server, spec, table, ierr)
    type(lapse_server), intent(in) :: server
    type(lapse_table_spec), intent(in) :: spec
    type(lapse_table), intent(inout) :: table
    integer, intent(out), optional :: ierr
    type(lapse_rule), target :: rule
    character(:, kind=c_char), allocatable, target :: name, policy
    type(c_push_limits) :: limits
    type(c_ptr) :: given_policy
    integer(c_int) :: status
    if (.not. is_sized(spec, ierr)) return
    rule = spec%rule
    call make_name(spec, name)
    given_policy = c_null_ptr
    if (allocated(spec%policy)) then
      policy = to_c(spec%policy)
      given_policy = c_loc(policy)
    end if
    call c_push_limits_init(limits)
    limits%not_finite = spec%not_finite
    limits%max_norm = spec%max_push_norm
    status = c_table_create_with_policy(server%handle, c_spec(spec, c_loc(rule), c_loc(name)), limits, &
                                        given_policy, table%handle)
    if (status == lapse_ok) table%element = spec%element
    call finish(status, ierr)
  end subroutine lapse_table_create

  !> Not collective. The memory of this rank for such a new table, in bytes.
  subroutine lapse_estimate_memory(server, spec, bytes, ierr)
    type(lapse_server), intent(in) :: server
    type(lapse_table_spec), intent(in) :: spec
    integer(int64), intent(inout) :: bytes
    integer, intent(out), optional :: ierr
    type(lapse_rule), target :: rule
    character(:, kind=c_char), allocatable, target :: name
    if (.not. is_sized(spec, ierr)) return
    rule = spec%rule
    call make_name(spec, name)
    call finish(c_estimate_memory(server%handle, c_spec(spec, c_loc(rule), c_loc(name)), bytes), ierr)
  end subroutine lapse_estimate_memory

  !> Fortran has no unsigned integers.
  logical function is_sized(spec, ierr)
    type(lapse_table_spec), intent(in) :: spec
    integer, intent(out), optional :: ierr
    character(160) :: text
    is_sized = spec%keys >= 0 .and. spec%length >= 0 .and. spec%max_keys >= 0 .and. spec%memory_limit_bytes >= 0
    if (is_sized) return
    write (text, '(4(a, i0), a)') 'a table of ', spec%keys, ' keys of length ', spec%length, ', at most ', &
      spec%max_keys, ' keys and ', spec%memory_limit_bytes, ' bytes: expected none below 0'
    call refuse(lapse_error_configuration, trim(text), ierr)
  end function is_sized

  subroutine make_name(spec, name)
    type(lapse_table_spec), intent(in) :: spec
    character(:, kind=c_char), allocatable, intent(out) :: name
    name = c_null_char
    if (allocated(spec%name)) name = to_c(spec%name)
  end subroutine make_name

  !> Converts it to the C structure. `rule` and `name` hold copies of the rule and the name.
  function c_spec(spec, rule, name) result(made)
    type(lapse_table_spec), intent(in) :: spec
    type(c_ptr), intent(in) :: rule, name
    type(c_table_spec) :: made
    call c_table_spec_init(made)
    if (allocated(spec%name)) made%name = name
    made%element = spec%element
    made%keys = spec%keys
    made%sparse = merge(1_c_int, 0_c_int, spec%sparse)
    made%length = int(spec%length, c_size_t)
    made%seed = spec%seed
    made%initialiser = spec%initialiser
    made%first = spec%first
    made%second = spec%second
    made%initialise = spec%initialise
    made%initialise_context = spec%initialise_context
    made%lengths = spec%lengths
    made%lengths_context = spec%lengths_context
    made%max_keys = spec%max_keys
    made%memory_limit_bytes = spec%memory_limit_bytes
    made%home = spec%home
    made%home_function = spec%home_function
    made%home_context = spec%home_context
    if (spec%rule%size /= 0) made%rule = rule
    made%location_caches = spec%location_caches
    made%consistency%kind = spec%consistency
  end function c_spec

  !> Between phases. The memory of this rank for the table, in bytes.
  subroutine lapse_table_memory_use(server, table, bytes, ierr)
    type(lapse_server), intent(in) :: server
    type(lapse_table), intent(in) :: table
    integer(int64), intent(inout) :: bytes
    integer, intent(out), optional :: ierr
    call finish(c_table_memory_use(server%handle, table%handle, bytes), ierr)
  end subroutine lapse_table_memory_use

  subroutine lapse_table_length(table, key, length, ierr)
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in) :: key
    integer, intent(inout) :: length
    integer, intent(out), optional :: ierr
    integer(c_size_t) :: elements
    if (succeeded(c_table_length(table%handle, key, elements), ierr)) length = int(elements)
  end subroutine lapse_table_length

  !> Collective. `run`: c_funloc of a bind(C) procedure that is a lapse_key_function of lapse/c/table.h.
  subroutine lapse_function_register(server, name, element, argument_bytes, result_bytes, run, registered, &
      context, ierr)
    type(lapse_server), intent(in) :: server
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: element
    integer, intent(in) :: argument_bytes, result_bytes
    type(c_funptr), value :: run
    type(lapse_function), intent(inout) :: registered
    type(c_ptr), intent(in), optional :: context
    integer, intent(out), optional :: ierr
    type(c_ptr) :: given
    given = c_null_ptr
    if (present(context)) given = context
    call finish(c_function_register(server%handle, to_c(name), element, int(argument_bytes, c_size_t), &
                                    int(result_bytes, c_size_t), run, given, registered%handle), ierr)
  end subroutine lapse_function_register
end module lapse_tables
