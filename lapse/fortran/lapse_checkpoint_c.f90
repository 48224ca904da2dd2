!> Structures and functions of checkpoints.h in the C interface. Programs use module lapse.
module lapse_checkpoint_c
  use, intrinsic :: iso_c_binding
  implicit none
  public

  type, bind(C) :: c_table_load
    integer(c_size_t) :: size
    type(c_ptr) :: table
    integer(c_int64_t) :: first_key
    integer(c_int64_t) :: last_key
    integer(c_int) :: state
    integer(c_int) :: convert
  end type c_table_load

  type, bind(C) :: c_load_request
    integer(c_size_t) :: size
    type(c_ptr) :: step
    type(c_ptr) :: folder
    type(c_ptr) :: tables
    integer(c_size_t) :: table_count
    integer(c_int) :: is_fallback
  end type c_load_request

  type, bind(C) :: c_bytes
    type(c_ptr) :: data
    integer(c_size_t) :: size
  end type c_bytes

  type, bind(C) :: c_checkpoint_content
    integer(c_size_t) :: size
    type(c_bytes) :: blob
    type(c_ptr) :: per_worker
    integer(c_size_t) :: per_worker_count
    type(c_ptr) :: clocks
    integer(c_size_t) :: clock_count
  end type c_checkpoint_content

  interface
    integer(c_int) function c_checkpoints_create(server, folder, local_folder, keep, checkpoints) &
        bind(C, name="lapse_checkpoints_create")
      import
      type(c_ptr), value :: server
      character(kind=c_char), intent(in) :: folder(*)
      character(kind=c_char), intent(in), optional :: local_folder(*)
      integer(c_size_t), value :: keep
      type(c_ptr), intent(inout) :: checkpoints
    end function c_checkpoints_create
    subroutine c_checkpoints_free(checkpoints) bind(C, name="lapse_checkpoints_free")
      import
      type(c_ptr), value :: checkpoints
    end subroutine c_checkpoints_free
    integer(c_int) function c_checkpoints_add(checkpoints, table, name) bind(C, name="lapse_checkpoints_add")
      import
      type(c_ptr), value :: checkpoints, table
      character(kind=c_char), intent(in), optional :: name(*)
    end function c_checkpoints_add
    subroutine c_checkpoint_content_init(content) bind(C, name="lapse_checkpoint_content_init")
      import
      type(c_checkpoint_content), intent(out) :: content
    end subroutine c_checkpoint_content_init
    integer(c_int) function c_checkpoints_save_as(checkpoints, step, content, begins) &
        bind(C, name="lapse_checkpoints_save_as")
      import
      type(c_ptr), value :: checkpoints
      integer(c_int64_t), value :: step
      type(c_checkpoint_content), intent(in) :: content
      integer(c_int), value :: begins
    end function c_checkpoints_save_as
    integer(c_int) function c_worker_count(checkpoints, bytes, clocks) bind(C, name="lapse_checkpoints_worker_count")
      import
      type(c_ptr), value :: checkpoints
      integer(c_size_t), intent(inout) :: bytes, clocks
    end function c_worker_count
    integer(c_int) function c_worker_bytes(checkpoints, worker, data, bytes) &
        bind(C, name="lapse_checkpoints_worker_bytes")
      import
      type(c_ptr), value :: checkpoints
      integer(c_size_t), value :: worker
      type(c_ptr), intent(inout) :: data
      integer(c_size_t), intent(inout) :: bytes
    end function c_worker_bytes
    integer(c_int) function c_worker_clock(checkpoints, worker, clock) bind(C, name="lapse_checkpoints_worker_clock")
      import
      type(c_ptr), value :: checkpoints
      integer(c_size_t), value :: worker
      integer(c_int64_t), intent(inout) :: clock
    end function c_worker_clock
    integer(c_int) function c_checkpoints_finish(checkpoints) bind(C, name="lapse_checkpoints_finish")
      import
      type(c_ptr), value :: checkpoints
    end function c_checkpoints_finish
    integer(c_int) function c_checkpoints_done(checkpoints) bind(C, name="lapse_checkpoints_done")
      import
      type(c_ptr), value :: checkpoints
    end function c_checkpoints_done
    integer(c_int) function c_checkpoints_staged(checkpoints) bind(C, name="lapse_checkpoints_staged")
      import
      type(c_ptr), value :: checkpoints
    end function c_checkpoints_staged
    integer(c_int) function c_checkpoints_release_memory(checkpoints) &
        bind(C, name="lapse_checkpoints_release_memory")
      import
      type(c_ptr), value :: checkpoints
    end function c_checkpoints_release_memory
    subroutine c_load_request_init(request) bind(C, name="lapse_load_request_init")
      import
      type(c_load_request), intent(out) :: request
    end subroutine c_load_request_init
    subroutine c_table_load_init(load, table) bind(C, name="lapse_table_load_init")
      import
      type(c_table_load), intent(out) :: load
      type(c_ptr), value :: table
    end subroutine c_table_load_init
    integer(c_int) function c_problem_count(checkpoints, count) bind(C, name="lapse_checkpoints_problem_count")
      import
      type(c_ptr), value :: checkpoints
      integer(c_size_t), intent(inout) :: count
    end function c_problem_count
    integer(c_int) function c_problem(checkpoints, i, text) bind(C, name="lapse_checkpoints_problem")
      import
      type(c_ptr), value :: checkpoints
      integer(c_size_t), value :: i
      type(c_ptr), intent(inout) :: text
    end function c_problem
    integer(c_int) function c_only_local(checkpoints, only_local) bind(C, name="lapse_checkpoints_only_local")
      import
      type(c_ptr), value :: checkpoints
      integer(c_int), intent(inout) :: only_local
    end function c_only_local
    integer(c_int) function c_checkpoints_load(checkpoints, request, loaded, blob, bytes) &
        bind(C, name="lapse_checkpoints_load_as")
      import
      type(c_ptr), value :: checkpoints
      type(c_load_request), intent(in) :: request
      integer(c_int64_t), intent(inout) :: loaded
      type(c_ptr), intent(inout) :: blob
      integer(c_size_t), intent(inout) :: bytes
    end function c_checkpoints_load
    integer(c_int) function c_checkpoints_load_grown(checkpoints, request, loaded, blob, bytes) &
        bind(C, name="lapse_checkpoints_load_grown")
      import
      type(c_ptr), value :: checkpoints
      type(c_load_request), intent(in) :: request
      integer(c_int64_t), intent(inout) :: loaded
      type(c_ptr), intent(inout) :: blob
      integer(c_size_t), intent(inout) :: bytes
    end function c_checkpoints_load_grown
  end interface
end module lapse_checkpoint_c
