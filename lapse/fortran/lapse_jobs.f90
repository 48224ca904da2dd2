!> When a job saves a checkpoint, and when it stops early: docs/stop-and-resume.md. Programs use module lapse.
module lapse_jobs
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use lapse_c
  use lapse_types
  implicit none
  private

  public :: lapse_job, lapse_job_create, lapse_job_free, lapse_job_stop_requested, lapse_job_checkpoint_due
  public :: lapse_job_should_stop, lapse_job_stop_reason, lapse_job_need_checkpoint, lapse_job_begin_interval

  type :: lapse_job
    type(c_ptr) :: handle = c_null_ptr
  end type lapse_job

  type, bind(C) :: c_job_options
    integer(c_size_t) :: size
    type(c_ptr) :: signals
    integer(c_size_t) :: signal_count
    integer(c_int64_t) :: epochs, clocks, seconds, deadline, grace
  end type c_job_options

  interface
    subroutine c_job_options_init(options) bind(C, name="lapse_job_options_init")
      import
      type(c_job_options), intent(out) :: options
    end subroutine c_job_options_init
    integer(c_int) function c_job_create(server, options, job) bind(C, name="lapse_job_create")
      import
      type(c_ptr), value :: server
      type(c_job_options), intent(in) :: options
      type(c_ptr), intent(inout) :: job
    end function c_job_create
    subroutine c_job_free(job) bind(C, name="lapse_job_free")
      import
      type(c_ptr), value :: job
    end subroutine c_job_free
    integer(c_int) function c_job_stop_requested(job, answer) bind(C, name="lapse_job_stop_requested")
      import
      type(c_ptr), value :: job
      integer(c_int), intent(inout) :: answer
    end function c_job_stop_requested
    integer(c_int) function c_job_checkpoint_due(job, answer) bind(C, name="lapse_job_checkpoint_due")
      import
      type(c_ptr), value :: job
      integer(c_int), intent(inout) :: answer
    end function c_job_checkpoint_due
    integer(c_int) function c_job_should_stop(job, answer) bind(C, name="lapse_job_should_stop")
      import
      type(c_ptr), value :: job
      integer(c_int), intent(inout) :: answer
    end function c_job_should_stop
    integer(c_int) function c_job_stop_reason(job, reason) bind(C, name="lapse_job_stop_reason")
      import
      type(c_ptr), value :: job
      type(c_ptr), intent(inout) :: reason
    end function c_job_stop_reason
    integer(c_int) function c_job_need_checkpoint(job, epochs, clocks, answer) bind(C, name="lapse_job_need_checkpoint")
      import
      type(c_ptr), value :: job
      integer(c_int64_t), value :: epochs, clocks
      integer(c_int), intent(inout) :: answer
    end function c_job_need_checkpoint
    integer(c_int) function c_job_begin_interval(job, epochs, clocks) bind(C, name="lapse_job_begin_interval")
      import
      type(c_ptr), value :: job
      integer(c_int64_t), value :: epochs, clocks
    end function c_job_begin_interval
  end interface

contains

  !> Collective. signals: numbers of signals that ask the job to stop. epochs, clocks, seconds: the interval of
  !> checkpoints. deadline: in seconds since 1970; grace: how many seconds before it the job is to stop.
  subroutine lapse_job_create(server, job, signals, epochs, clocks, seconds, deadline, grace, ierr)
    type(lapse_server), intent(in) :: server
    type(lapse_job), intent(inout) :: job
    integer(c_int), intent(in), contiguous, target, optional :: signals(:)
    integer(int64), intent(in), optional :: epochs, clocks, seconds, deadline, grace
    integer, intent(out), optional :: ierr
    type(c_job_options) :: options
    if (.not. unused(job%handle, 'job', ierr)) return
    call c_job_options_init(options)
    if (present(signals)) then
      options%signal_count = size(signals, kind=c_size_t)
      if (size(signals) > 0) options%signals = c_loc(signals(1))
    end if
    if (present(epochs)) options%epochs = epochs
    if (present(clocks)) options%clocks = clocks
    if (present(seconds)) options%seconds = seconds
    if (present(deadline)) options%deadline = deadline
    if (present(grace)) options%grace = grace
    if (min(options%epochs, options%clocks, options%seconds, options%grace) < 0) then
      call refuse(lapse_error_configuration, 'a job with an interval or a grace below 0', ierr)
      return
    end if
    call finish(c_job_create(server%handle, options, job%handle), ierr)
  end subroutine lapse_job_create

  subroutine lapse_job_free(job)
    type(lapse_job), intent(inout) :: job
    call c_job_free(job%handle)
    job%handle = c_null_ptr
  end subroutine lapse_job_free

  !> Not collective, also for workers. Whether a signal has arrived or the time is over.
  subroutine lapse_job_stop_requested(job, requested, ierr)
    type(lapse_job), intent(in) :: job
    logical, intent(inout) :: requested
    integer, intent(out), optional :: ierr
    integer(c_int) :: answer
    if (succeeded(c_job_stop_requested(job%handle, answer), ierr)) requested = answer /= 0
  end subroutine lapse_job_stop_requested

  !> Not collective, also for workers. Whether a checkpoint is due.
  subroutine lapse_job_checkpoint_due(job, due, ierr)
    type(lapse_job), intent(in) :: job
    logical, intent(inout) :: due
    integer, intent(out), optional :: ierr
    integer(c_int) :: answer
    if (succeeded(c_job_checkpoint_due(job%handle, answer), ierr)) due = answer /= 0
  end subroutine lapse_job_checkpoint_due

  !> Collective. Whether the job is to stop: on all ranks or on none.
  subroutine lapse_job_should_stop(job, stop, ierr)
    type(lapse_job), intent(in) :: job
    logical, intent(inout) :: stop
    integer, intent(out), optional :: ierr
    integer(c_int) :: answer
    if (succeeded(c_job_should_stop(job%handle, answer), ierr)) stop = answer /= 0
  end subroutine lapse_job_should_stop

  !> Why the job is to stop.
  subroutine lapse_job_stop_reason(job, reason, ierr)
    type(lapse_job), intent(in) :: job
    character(:), allocatable, intent(inout) :: reason
    integer, intent(out), optional :: ierr
    type(c_ptr) :: text
    if (succeeded(c_job_stop_reason(job%handle, text), ierr)) reason = from_c(text)
  end subroutine lapse_job_stop_reason

  !> Collective. Whether a checkpoint is due, by the progress of rank 0.
  subroutine lapse_job_need_checkpoint(job, epochs, clocks, needed, ierr)
    type(lapse_job), intent(in) :: job
    integer(int64), intent(in) :: epochs, clocks
    logical, intent(inout) :: needed
    integer, intent(out), optional :: ierr
    integer(c_int) :: answer
    if (.not. is_progress(epochs, clocks, ierr)) return
    if (succeeded(c_job_need_checkpoint(job%handle, epochs, clocks, answer), ierr)) needed = answer /= 0
  end subroutine lapse_job_need_checkpoint

  !> Collective. Restarts the interval.
  subroutine lapse_job_begin_interval(job, epochs, clocks, ierr)
    type(lapse_job), intent(in) :: job
    integer(int64), intent(in) :: epochs, clocks
    integer, intent(out), optional :: ierr
    if (.not. is_progress(epochs, clocks, ierr)) return
    call finish(c_job_begin_interval(job%handle, epochs, clocks), ierr)
  end subroutine lapse_job_begin_interval

  logical function is_progress(epochs, clocks, ierr)
    integer(int64), intent(in) :: epochs, clocks
    integer, intent(out), optional :: ierr
    is_progress = min(epochs, clocks) >= 0
    if (.not. is_progress) call refuse(lapse_error_configuration, 'epochs or clocks of a job below 0', ierr)
  end function is_progress
end module lapse_jobs
