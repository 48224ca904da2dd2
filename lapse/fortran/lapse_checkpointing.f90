!> Checkpoints; programs use module lapse.
module lapse_checkpointing
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use lapse_c
  use lapse_types
  use lapse_worker_c
  implicit none
  private

  public :: lapse_checkpoints_create, lapse_checkpoints_free, lapse_checkpoints_add, lapse_checkpoints_save
  public :: lapse_checkpoints_save_begin, lapse_checkpoints_finish, lapse_checkpoints_done
  public :: lapse_checkpoints_load

contains

  !> keep: how many stay; without it all.
  subroutine lapse_checkpoints_create(server, folder, checkpoints, local_folder, keep, ierr)
    type(lapse_server), intent(in) :: server
    character(*), intent(in) :: folder
    type(lapse_checkpoints), intent(inout) :: checkpoints
    character(*), intent(in), optional :: local_folder
    integer, intent(in), optional :: keep
    integer, intent(out), optional :: ierr
    integer(c_size_t) :: kept
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

  !> Collective. `blob`: characters of rank 0 that are saved with it.
  subroutine lapse_checkpoints_save(checkpoints, step, blob, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    integer(int64), intent(in) :: step
    character(*, kind=c_char), intent(in), target, optional :: blob
    integer, intent(out), optional :: ierr
    if (present(blob)) then
      call finish(c_checkpoints_save(checkpoints%handle, step, c_loc(blob), len(blob, kind=c_size_t)), ierr)
    else
      call finish(c_checkpoints_save(checkpoints%handle, step, c_null_ptr, 0_c_size_t), ierr)
    end if
  end subroutine lapse_checkpoints_save

  !> Collective. Returns when values are copied; the checkpoint exists after lapse_checkpoints_finish.
  subroutine lapse_checkpoints_save_begin(checkpoints, step, blob, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    integer(int64), intent(in) :: step
    character(*, kind=c_char), intent(in), target, optional :: blob
    integer, intent(out), optional :: ierr
    if (present(blob)) then
      call finish(c_checkpoints_save_begin(checkpoints%handle, step, c_loc(blob), &
                                           len(blob, kind=c_size_t)), ierr)
    else
      call finish(c_checkpoints_save_begin(checkpoints%handle, step, c_null_ptr, 0_c_size_t), ierr)
    end if
  end subroutine lapse_checkpoints_save_begin

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

  !> Collective. Without `step`: the newest.
  subroutine lapse_checkpoints_load(checkpoints, step, loaded, blob, ierr)
    type(lapse_checkpoints), intent(in) :: checkpoints
    integer(int64), intent(in), optional :: step
    integer(int64), intent(inout), optional :: loaded
    character(:), allocatable, intent(inout), optional :: blob
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: step_loaded
    type(c_ptr) :: bytes
    integer(c_size_t) :: count, i
    integer(c_int) :: status
    character(kind=c_char), pointer :: characters(:)
    status = c_checkpoints_load(checkpoints%handle, step, step_loaded, bytes, count)
    if (status == lapse_ok) then
      if (present(loaded)) loaded = step_loaded
      if (present(blob)) then
        if (allocated(blob)) deallocate (blob)
        allocate (character(count) :: blob)
        call c_f_pointer(bytes, characters, [count])
        do i = 1, count
          blob(i:i) = characters(i)
        end do
      end if
    end if
    call finish(status, ierr)
  end subroutine lapse_checkpoints_load
end module lapse_checkpointing
