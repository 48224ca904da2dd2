!> Clocks, intents and samples. Programs use module lapse.
module lapse_managers
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use lapse_c
  use lapse_types
  use lapse_worker_c
  implicit none
  private

  public :: lapse_intent, lapse_intent_range, lapse_advance_clock, lapse_current_clock
  public :: lapse_set_frequencies
  public :: lapse_sampler_uniform, lapse_sampler_log_uniform, lapse_sampler_weighted
  public :: lapse_sample_prepare, lapse_sample_take, lapse_sample_finish

contains

  !> The worker will access the keys while its clock is at least `begin` and below `end`. read_only: their replicas
  !> send nothing.
  subroutine lapse_intent(worker, table, keys, begin, end, read_only, ierr)
    type(lapse_worker), intent(in) :: worker
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in), contiguous, target :: keys(:)
    integer(int64), intent(in) :: begin, end
    logical, intent(in), optional :: read_only
    integer, intent(out), optional :: ierr
    integer(c_size_t) :: count
    count = size(keys, kind=c_size_t)
    if (is_set(read_only)) then
      call finish(c_intent_read(worker%handle, table%handle, address_of_keys(keys), count, begin, end), ierr)
    else
      call finish(c_intent(worker%handle, table%handle, address_of_keys(keys), count, begin, end), ierr)
    end if
  end subroutine lapse_intent

  !> The same for the keys in [first, past).
  subroutine lapse_intent_range(worker, table, first, past, begin, end, read_only, ierr)
    type(lapse_worker), intent(in) :: worker
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in) :: first, past, begin, end
    logical, intent(in), optional :: read_only
    integer, intent(out), optional :: ierr
    if (is_set(read_only)) then
      call finish(c_intent_range_read(worker%handle, table%handle, first, past, begin, end), ierr)
    else
      call finish(c_intent_range(worker%handle, table%handle, first, past, begin, end), ierr)
    end if
  end subroutine lapse_intent_range

  logical function is_set(flag)
    logical, intent(in), optional :: flag
    is_set = .false.
    if (present(flag)) is_set = flag
  end function is_set

  subroutine lapse_advance_clock(worker, ierr)
    type(lapse_worker), intent(in) :: worker
    integer, intent(out), optional :: ierr
    call finish(c_advance_clock(worker%handle), ierr)
  end subroutine lapse_advance_clock

  subroutine lapse_current_clock(worker, clock, ierr)
    type(lapse_worker), intent(in) :: worker
    integer(int64), intent(inout) :: clock
    integer, intent(out), optional :: ierr
    call finish(c_current_clock(worker%handle, clock), ierr)
  end subroutine lapse_current_clock

  !> Collective. Sets how often each key of the dense table will be accessed, starting with key 0.
  subroutine lapse_set_frequencies(server, table, counts, ierr)
    type(lapse_server), intent(in) :: server
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in), contiguous :: counts(:)
    integer, intent(out), optional :: ierr
    call finish(c_set_frequencies(server%handle, table%handle, counts, size(counts, kind=c_size_t)), ierr)
  end subroutine lapse_set_frequencies

  ! --- samples ---

  ! Absent optional arguments default to the manager's options; see lapse/c/manager.h.

  !> Collective. Keys first to first + count - 1 with equal probability.
  subroutine lapse_sampler_uniform(server, table, first, count, sampler, scheme, replacement, postpone, &
                                  pool_keys, pool_uses, seed, ierr)
    type(lapse_server), intent(in) :: server
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in) :: first
    integer(int64), intent(in) :: count
    type(lapse_sampler), intent(inout) :: sampler
    integer(c_int), intent(in), optional :: scheme
    logical, intent(in), optional :: replacement, postpone
    integer, intent(in), optional :: pool_keys, pool_uses
    integer(int64), intent(in), optional :: seed
    integer, intent(out), optional :: ierr
    call create_sampler(server, table, first, count, 0_c_int, c_null_ptr, sampler, scheme, replacement, postpone, pool_keys, &
                        pool_uses, seed, ierr)
  end subroutine lapse_sampler_uniform

  !> Collective. The same keys, log-uniformly, for keys sorted by falling frequency.
  subroutine lapse_sampler_log_uniform(server, table, first, count, sampler, scheme, replacement, postpone, &
                                  pool_keys, pool_uses, seed, ierr)
    type(lapse_server), intent(in) :: server
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in) :: first
    integer(int64), intent(in) :: count
    type(lapse_sampler), intent(inout) :: sampler
    integer(c_int), intent(in), optional :: scheme
    logical, intent(in), optional :: replacement, postpone
    integer, intent(in), optional :: pool_keys, pool_uses
    integer(int64), intent(in), optional :: seed
    integer, intent(out), optional :: ierr
    call create_sampler(server, table, first, count, 1_c_int, c_null_ptr, sampler, scheme, replacement, postpone, pool_keys, &
                        pool_uses, seed, ierr)
  end subroutine lapse_sampler_log_uniform

  !> Collective. Key first + i - 1 with weights(i).
  subroutine lapse_sampler_weighted(server, table, first, weights, sampler, scheme, replacement, postpone, &
                                  pool_keys, pool_uses, seed, ierr)
    type(lapse_server), intent(in) :: server
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in) :: first
    real(real64), intent(in), contiguous, target :: weights(:)
    type(lapse_sampler), intent(inout) :: sampler
    integer(c_int), intent(in), optional :: scheme
    logical, intent(in), optional :: replacement, postpone
    integer, intent(in), optional :: pool_keys, pool_uses
    integer(int64), intent(in), optional :: seed
    integer, intent(out), optional :: ierr
    call create_sampler(server, table, first, size(weights, kind=int64), 0_c_int, address_of(weights), sampler, &
                        scheme, replacement, postpone, pool_keys, pool_uses, seed, ierr)
  end subroutine lapse_sampler_weighted

  subroutine create_sampler(server, table, first, count, log_uniform, weights, sampler, scheme, replacement, &
                            postpone, pool_keys, pool_uses, seed, ierr)
    type(lapse_server), intent(in) :: server
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in) :: first, count
    integer(c_int), intent(in) :: log_uniform
    type(c_ptr), intent(in) :: weights
    type(lapse_sampler), intent(inout) :: sampler
    integer(c_int), intent(in), optional :: scheme
    logical, intent(in), optional :: replacement, postpone
    integer, intent(in), optional :: pool_keys, pool_uses
    integer(int64), intent(in), optional :: seed
    integer, intent(out), optional :: ierr
    integer(c_int) :: status
    type(c_sampler_options) :: options
    integer(int64), target :: chosen
    call c_sampler_options_init(options)
    if (present(scheme)) options%scheme = scheme
    if (present(replacement)) options%with_replacement = merge(1_c_int, 0_c_int, replacement)
    if (present(postpone)) options%postpone = merge(lapse_on, lapse_off, postpone)
    if (present(pool_keys)) options%pool_keys = int(pool_keys, c_int32_t)
    if (present(pool_uses)) options%pool_uses = int(pool_uses, c_int32_t)
    if (min(options%pool_keys, options%pool_uses) < 0) then
      call refuse(lapse_error_usage, 'a sampler with pool_keys or pool_uses below 0', ierr)
      return
    end if
    if (present(seed)) then
      chosen = seed
      options%seed = c_loc(chosen)
    end if
    status = c_sampler_create(server%handle, table%handle, first, count, log_uniform, weights, options, &
                              sampler%handle)
    if (status == lapse_ok) sampler%element = table%element
    call finish(status, ierr)
  end subroutine create_sampler

  function address_of(weights) result(address)
    real(real64), intent(in), contiguous, target :: weights(:)
    real(real64), target, save :: none(1) = 0
    type(c_ptr) :: address
    address = c_loc(none)  ! empty weights are not NULL: the library refuses them
    if (size(weights, kind=c_size_t) > 0) address = c_loc(weights(1))
  end function address_of

  subroutine lapse_sample_prepare(worker, sampler, keys, begin, end, sample, ierr)
    type(lapse_worker), intent(in) :: worker
    type(lapse_sampler), intent(in) :: sampler
    integer, intent(in) :: keys
    integer(int64), intent(in) :: begin, end
    type(lapse_sample), intent(inout) :: sample
    integer, intent(out), optional :: ierr
    if (.not. unused(sample%handle, 'sample', ierr)) return
    if (keys < 0) then
      call refuse(lapse_error_usage, 'a sample of fewer than 0 keys', ierr)
      return
    end if
    sample%element = sampler%element
    call finish(c_sample_prepare(worker%handle, sampler%handle, int(keys, c_size_t), begin, end, &
                                 sample%handle), ierr)
  end subroutine lapse_sample_prepare

  !> Returns the next keys of the sample, without their values.
  subroutine lapse_sample_take(worker, sample, keys, ierr)
    type(lapse_worker), intent(in) :: worker
    type(lapse_sample), intent(in) :: sample
    integer(int64), intent(inout), contiguous, target :: keys(:)
    integer, intent(out), optional :: ierr
    call finish(c_sample_take(worker%handle, sample%handle, address_of_keys(keys), &
                              size(keys, kind=c_size_t)), ierr)
  end subroutine lapse_sample_take

  subroutine lapse_sample_finish(sample)
    type(lapse_sample), intent(inout) :: sample
    call c_sample_finish(sample%handle)
    sample%handle = c_null_ptr
  end subroutine lapse_sample_finish
end module lapse_managers
