!> Clocks, intents and samples; programs use module lapse.
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

  !> The worker will access the keys while its clock is at least `begin` and below `end`.
  subroutine lapse_intent(worker, table, keys, begin, end, ierr)
    type(lapse_worker), intent(in) :: worker
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in), contiguous, target :: keys(:)
    integer(int64), intent(in) :: begin, end
    integer, intent(out), optional :: ierr
    call finish(c_intent(worker%handle, table%handle, address_of_keys(keys), size(keys, kind=c_size_t), &
                         begin, end), ierr)
  end subroutine lapse_intent

  !> The keys from `first` to before `past`.
  subroutine lapse_intent_range(worker, table, first, past, begin, end, ierr)
    type(lapse_worker), intent(in) :: worker
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in) :: first, past, begin, end
    integer, intent(out), optional :: ierr
    call finish(c_intent_range(worker%handle, table%handle, first, past, begin, end), ierr)
  end subroutine lapse_intent_range

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

  !> Collective. How often each key of the dense table will be accessed, from key 0 on.
  subroutine lapse_set_frequencies(server, table, counts, ierr)
    type(lapse_server), intent(in) :: server
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in), contiguous :: counts(:)
    integer, intent(out), optional :: ierr
    call finish(c_set_frequencies(server%handle, table%handle, counts, size(counts, kind=c_size_t)), ierr)
  end subroutine lapse_set_frequencies

  ! --- samples ---

  !> Collective. Keys first to first + count - 1, all alike.
  subroutine lapse_sampler_uniform(server, table, first, count, sampler, scheme, replacement, ierr)
    type(lapse_server), intent(in) :: server
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in) :: first, count
    type(lapse_sampler), intent(inout) :: sampler
    integer(c_int), intent(in), optional :: scheme
    logical, intent(in), optional :: replacement
    integer, intent(out), optional :: ierr
    call finish(c_sampler_uniform(server%handle, table%handle, first, count, scheme_of(scheme), &
                                  flag_of(replacement), sampler%handle), ierr)
    sampler%element = table%element
  end subroutine lapse_sampler_uniform

  !> Collective. These keys as in a list by falling frequency.
  subroutine lapse_sampler_log_uniform(server, table, first, count, sampler, scheme, replacement, ierr)
    type(lapse_server), intent(in) :: server
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in) :: first, count
    type(lapse_sampler), intent(inout) :: sampler
    integer(c_int), intent(in), optional :: scheme
    logical, intent(in), optional :: replacement
    integer, intent(out), optional :: ierr
    call finish(c_sampler_log_uniform(server%handle, table%handle, first, count, scheme_of(scheme), &
                                      flag_of(replacement), sampler%handle), ierr)
    sampler%element = table%element
  end subroutine lapse_sampler_log_uniform

  !> Collective. Key first + i - 1 with weights(i).
  subroutine lapse_sampler_weighted(server, table, first, weights, sampler, scheme, replacement, ierr)
    type(lapse_server), intent(in) :: server
    type(lapse_table), intent(in) :: table
    integer(int64), intent(in) :: first
    real(real64), intent(in), contiguous :: weights(:)
    type(lapse_sampler), intent(inout) :: sampler
    integer(c_int), intent(in), optional :: scheme
    logical, intent(in), optional :: replacement
    integer, intent(out), optional :: ierr
    call finish(c_sampler_weighted(server%handle, table%handle, first, weights, size(weights, kind=c_size_t), &
                                   scheme_of(scheme), flag_of(replacement), sampler%handle), ierr)
    sampler%element = table%element
  end subroutine lapse_sampler_weighted

  integer(c_int) function scheme_of(scheme)
    integer(c_int), intent(in), optional :: scheme
    scheme_of = lapse_scheme_default
    if (present(scheme)) scheme_of = scheme
  end function scheme_of
  integer(c_int) function flag_of(replacement)
    logical, intent(in), optional :: replacement
    flag_of = 1
    if (present(replacement)) flag_of = merge(1_c_int, 0_c_int, replacement)
  end function flag_of

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

  !> The next keys of the sample, without their values.
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
