!> Constants and functions of the C interface, for calls from Fortran. Programs use module lapse.
module lapse_c
  use, intrinsic :: iso_c_binding
  implicit none
  public

  ! --- statuses: values of `ierr` ---
  integer, parameter :: lapse_ok = 0
  integer, parameter :: lapse_error_usage = 1
  integer, parameter :: lapse_error_key = 2
  integer, parameter :: lapse_error_length = 3
  integer, parameter :: lapse_error_closed = 4
  integer, parameter :: lapse_error_collective = 5
  integer, parameter :: lapse_error_configuration = 6
  integer, parameter :: lapse_error_mpi_state = 7
  integer, parameter :: lapse_error_mpi = 8
  integer, parameter :: lapse_error_memory = 9
  integer, parameter :: lapse_error_peer_failed = 10
  integer, parameter :: lapse_error_user_code = 11
  integer, parameter :: lapse_error_checkpoint = 12
  integer, parameter :: lapse_error_internal = 13

  ! --- constants of tables ---
  integer(c_int), parameter :: lapse_float = 0, lapse_double = 1, lapse_int32 = 2, lapse_int64 = 3
  integer(c_int), parameter :: lapse_zero = 0, lapse_constant = 1, lapse_uniform = 2, lapse_normal = 3, &
                               lapse_initialise = 4
  integer(c_int), parameter :: lapse_add = 0, lapse_assign = 1, lapse_sgd = 2, lapse_adagrad = 3, &
                               lapse_rowwise_adagrad = 4, lapse_adam = 5, lapse_ftrl = 6, lapse_custom = 7
  integer(c_int), parameter :: lapse_merge_additive = 0, lapse_merge_gradient = 1, lapse_merge_none = 2
  integer(c_int), parameter :: lapse_home_hash = 0, lapse_home_range = 1, lapse_home_custom = 2
  integer(c_int), parameter :: lapse_default = -1, lapse_off = 0, lapse_on = 1
  integer(c_int), parameter :: lapse_consistency_default = 0, lapse_consistency_sequential = 1, &
                               lapse_consistency_eventual = 2
  integer(c_int), parameter :: lapse_not_finite_allow = 0, lapse_not_finite_count = 1, lapse_not_finite_refuse = 2

  ! --- constants of workers and samplers ---
  integer(c_int), parameter :: lapse_local = 0, lapse_not_local = 1, lapse_private_to_neighbour = 2
  integer(c_int), parameter :: lapse_sum = 0, lapse_min = 1, lapse_max = 2
  integer(c_int), parameter :: lapse_scheme_default = -1, lapse_naive = 0, lapse_prelocalised = 1, &
                               lapse_pool = 2, lapse_local_scheme = 3

  type, bind(C) :: c_option
    type(c_ptr) :: name = c_null_ptr
    type(c_ptr) :: value = c_null_ptr
  end type c_option

  !> lapse_rule of lapse/c/table.h, where its components are documented; lapse_rule_init fills it.
  type, bind(C) :: lapse_rule
    integer(c_size_t) :: size = 0
    integer(c_int) :: kind = lapse_add
    real(c_double) :: learning_rate = 0
    real(c_double) :: l1 = 0
    real(c_double) :: l2 = 0
    real(c_double) :: initial_accumulator = 0
    real(c_double) :: epsilon = 0
    real(c_double) :: beta1 = 0
    real(c_double) :: beta2 = 0
    type(c_ptr) :: name = c_null_ptr  ! null-terminated
    integer(c_int) :: merge = lapse_merge_gradient
    type(c_ptr) :: context = c_null_ptr
    type(c_funptr) :: state_elements = c_null_funptr
    type(c_funptr) :: initialise = c_null_funptr
    type(c_funptr) :: apply = c_null_funptr
  end type lapse_rule

  type, bind(C) :: c_consistency
    integer(c_int) :: kind
  end type c_consistency

  type, bind(C) :: c_table_spec
    integer(c_size_t) :: size
    type(c_ptr) :: name
    integer(c_int) :: element
    integer(c_int64_t) :: keys
    integer(c_int) :: sparse
    integer(c_size_t) :: length
    integer(c_int64_t) :: seed
    integer(c_int) :: initialiser
    real(c_double) :: first
    real(c_double) :: second
    type(c_funptr) :: initialise
    type(c_ptr) :: initialise_context
    type(c_funptr) :: lengths
    type(c_ptr) :: lengths_context
    integer(c_int64_t) :: max_keys
    integer(c_int64_t) :: memory_limit_bytes
    integer(c_int) :: home
    type(c_funptr) :: home_function
    type(c_ptr) :: home_context
    type(c_ptr) :: rule
    integer(c_int) :: location_caches
    type(c_consistency) :: consistency
  end type c_table_spec

  type, bind(C) :: c_push_limits
    integer(c_size_t) :: size
    integer(c_int) :: not_finite
    real(c_double) :: max_norm
  end type c_push_limits

  ! --- status.h, server.h ---
  interface
    pure function c_last_error() bind(C, name="lapse_last_error")
      import
      type(c_ptr) :: c_last_error
    end function c_last_error
    integer(c_int) function c_fail(status, text) bind(C, name="lapse_fail")
      import
      integer(c_int), value :: status
      character(kind=c_char), intent(in) :: text(*)
    end function c_fail
    pure function c_version(major, minor, patch) bind(C, name="lapse_version")
      import
      type(c_ptr), intent(in), value :: major, minor, patch
      type(c_ptr) :: c_version
    end function c_version
    integer(c_int) function c_prepare_mpi() bind(C, name="lapse_prepare_mpi")
      import
    end function c_prepare_mpi
    integer(c_int) function c_server_create(communicator, options, count, server) &
        bind(C, name="lapse_server_create_fortran")
      import
      integer(c_int), value :: communicator
      type(c_option), intent(in) :: options(*)
      integer(c_size_t), value :: count
      type(c_ptr), intent(inout) :: server
    end function c_server_create
    integer(c_int) function c_manager_create(communicator, options, count, server) &
        bind(C, name="lapse_manager_create_fortran")
      import
      integer(c_int), value :: communicator
      type(c_option), intent(in) :: options(*)
      integer(c_size_t), value :: count
      type(c_ptr), intent(inout) :: server
    end function c_manager_create
    integer(c_int) function c_server_close(server) bind(C, name="lapse_server_close")
      import
      type(c_ptr), value :: server
    end function c_server_close
    integer(c_int) function c_server_free(server) bind(C, name="lapse_server_free")
      import
      type(c_ptr), value :: server
    end function c_server_free
    integer(c_int) function c_server_rank(server, rank, ranks) bind(C, name="lapse_server_rank")
      import
      type(c_ptr), value :: server
      integer(c_int32_t), intent(inout) :: rank, ranks
    end function c_server_rank
    integer(c_int) function c_statistics_json(server, json) bind(C, name="lapse_statistics_json")
      import
      type(c_ptr), value :: server
      type(c_ptr), intent(inout) :: json
    end function c_statistics_json
    integer(c_int) function c_memory_use(server, bytes) bind(C, name="lapse_memory_use")
      import
      type(c_ptr), value :: server
      integer(c_int64_t), intent(inout) :: bytes
    end function c_memory_use
    integer(c_int) function c_server_hosts(server, hosts, count) bind(C, name="lapse_server_hosts")
      import
      type(c_ptr), value :: server
      integer(c_int32_t), intent(inout) :: hosts(*)
      integer(c_size_t), value :: count
    end function c_server_hosts
    integer(c_int) function c_request_stop(server) bind(C, name="lapse_request_stop")
      import
      type(c_ptr), value :: server
    end function c_request_stop
    integer(c_int) function c_stop_requested(server, requested) bind(C, name="lapse_stop_requested")
      import
      type(c_ptr), value :: server
      integer(c_int), intent(inout) :: requested
    end function c_stop_requested
    integer(c_int) function c_set_hooks(log, fatal, context) bind(C, name="lapse_set_hooks")
      import
      type(c_funptr), value :: log, fatal
      type(c_ptr), value :: context
    end function c_set_hooks
    integer(c_int) function c_set_region_hooks(begin, end, context) bind(C, name="lapse_set_region_hooks")
      import
      type(c_funptr), value :: begin, end
      type(c_ptr), value :: context
    end function c_set_region_hooks
    integer(c_int) function c_trace_band(name, seconds) bind(C, name="lapse_trace_band")
      import
      character(c_char), intent(in) :: name(*)
      real(c_double), value :: seconds
    end function c_trace_band
    integer(c_int) function c_trace_note(name, value) bind(C, name="lapse_trace_note")
      import
      character(c_char), intent(in) :: name(*), value(*)
    end function c_trace_note
    subroutine c_free(memory) bind(C, name="lapse_free")
      import
      type(c_ptr), value :: memory
    end subroutine c_free
    pure integer(c_size_t) function c_strlen(text) bind(C, name="strlen")
      import
      type(c_ptr), intent(in), value :: text
    end function c_strlen
    integer(c_int) function c_run_workers(server, workers, work, context) bind(C, name="lapse_run_workers")
      import
      type(c_ptr), value :: server
      integer(c_int32_t), value :: workers
      type(c_funptr), value :: work
      type(c_ptr), value :: context
    end function c_run_workers
    integer(c_int) function c_run_here(server, work, context) bind(C, name="lapse_run_here")
      import
      type(c_ptr), value :: server
      type(c_funptr), value :: work
      type(c_ptr), value :: context
    end function c_run_here
    integer(c_int) function c_start_progress(server, workers) bind(C, name="lapse_start_progress")
      import
      type(c_ptr), value :: server
      integer(c_int32_t), value :: workers
    end function c_start_progress
    integer(c_int) function c_stop_progress(server) bind(C, name="lapse_stop_progress")
      import
      type(c_ptr), value :: server
    end function c_stop_progress
    integer(c_int) function c_attach(server, place, worker) bind(C, name="lapse_attach")
      import
      type(c_ptr), value :: server
      integer(c_int32_t), value :: place
      type(c_ptr), intent(inout) :: worker
    end function c_attach
    integer(c_int) function c_detach(worker) bind(C, name="lapse_detach")
      import
      type(c_ptr), value :: worker
    end function c_detach
    integer(c_int) function c_detach_failed(worker, reason) bind(C, name="lapse_detach_failed")
      import
      type(c_ptr), value :: worker
      character(kind=c_char), intent(in), optional :: reason(*)
    end function c_detach_failed
    integer(c_int) function c_progress(server, microseconds) bind(C, name="lapse_progress")
      import
      type(c_ptr), value :: server
      integer(c_int64_t), value :: microseconds
    end function c_progress
    integer(c_int) function c_mpi_lock(server) bind(C, name="lapse_mpi_lock")
      import
      type(c_ptr), value :: server
    end function c_mpi_lock
    integer(c_int) function c_mpi_unlock(server) bind(C, name="lapse_mpi_unlock")
      import
      type(c_ptr), value :: server
    end function c_mpi_unlock
  end interface

  ! --- table.h ---
  interface
    subroutine c_rule_init(rule, kind) bind(C, name="lapse_rule_init")
      import
      type(lapse_rule), intent(inout) :: rule
      integer(c_int), value :: kind
    end subroutine c_rule_init
    subroutine c_table_spec_init(spec) bind(C, name="lapse_table_spec_init")
      import
      type(c_table_spec), intent(out) :: spec
    end subroutine c_table_spec_init
    subroutine c_push_limits_init(limits) bind(C, name="lapse_push_limits_init")
      import
      type(c_push_limits), intent(out) :: limits
    end subroutine c_push_limits_init
    integer(c_int) function c_table_create_with_policy(server, spec, limits, policy, table) &
        bind(C, name="lapse_table_create_with_policy")
      import
      type(c_ptr), value :: server, policy
      type(c_table_spec), intent(in) :: spec
      type(c_push_limits), intent(in) :: limits
      type(c_ptr), intent(inout) :: table
    end function c_table_create_with_policy
    integer(c_int) function c_estimate_memory(server, spec, bytes) bind(C, name="lapse_estimate_memory")
      import
      type(c_ptr), value :: server
      type(c_table_spec), intent(in) :: spec
      integer(c_int64_t), intent(inout) :: bytes
    end function c_estimate_memory
    integer(c_int) function c_table_memory_use(server, table, bytes) bind(C, name="lapse_table_memory_use")
      import
      type(c_ptr), value :: server, table
      integer(c_int64_t), intent(inout) :: bytes
    end function c_table_memory_use
    integer(c_int) function c_table_length(table, key, length) bind(C, name="lapse_table_length")
      import
      type(c_ptr), value :: table
      integer(c_int64_t), value :: key
      integer(c_size_t), intent(inout) :: length
    end function c_table_length
    integer(c_int) function c_function_register(server, name, element, argument_bytes, result_bytes, run, &
        context, registered) bind(C, name="lapse_function_register")
      import
      type(c_ptr), value :: server
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: element
      integer(c_size_t), value :: argument_bytes, result_bytes
      type(c_funptr), value :: run
      type(c_ptr), value :: context
      type(c_ptr), intent(inout) :: registered
    end function c_function_register
  end interface
end module lapse_c
