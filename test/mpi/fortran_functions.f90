!> Checks, and the functions that the library calls, of fortran_program.f90.
module fortran_functions
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
  use lapse
  implicit none

  integer, parameter :: key_count = 50, row = 3

  type :: tables_of_program
    type(lapse_server) :: server
    type(lapse_table) :: floats, doubles, ints, longs
    type(lapse_function) :: clear
    type(lapse_sampler) :: sampler
    logical :: managed = .false.
  end type tables_of_program

contains

  recursive subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    write (error_unit, '(4a)') 'expected: ', what, '; the last error: ', lapse_last_error()
    error stop 1
  end subroutine expect

  !> The status is the expected one, and the text has a part.
  recursive subroutine expect_error(ierr, status, part)
    integer, intent(in) :: ierr, status
    character(*), intent(in) :: part
    call expect(ierr == status .and. index(lapse_last_error(), part) > 0, 'an error with '//part)
  end subroutine expect_error

  recursive function initial(context, key, value, length) result(failed) bind(C)
    type(c_ptr), value :: context, value
    integer(c_int64_t), value :: key
    integer(c_size_t), value :: length
    integer(c_int) :: failed
    real(real32), pointer :: elements(:)
    real(real32), pointer :: offset
    call c_f_pointer(value, elements, [length])
    call c_f_pointer(context, offset)
    elements = real(key, real32) + offset
    failed = 0
  end function initial

  recursive function clear_above(context, key, value, length, argument, cleared) result(failed) bind(C)
    type(c_ptr), value :: context, value, argument, cleared
    integer(c_int64_t), value :: key
    integer(c_size_t), value :: length
    integer(c_int) :: failed
    real(real32), pointer :: elements(:), limit
    integer(int32), pointer :: count
    call c_f_pointer(value, elements, [length])
    call c_f_pointer(argument, limit)
    call c_f_pointer(cleared, count)
    count = int(count_above(elements, limit), int32)
    where (elements > limit) elements = 0
    failed = merge(4, 0, key == 13 .or. c_associated(context))
  end function clear_above
  recursive integer function count_above(elements, limit)
    real(real32), intent(in) :: elements(:), limit
    count_above = count(elements > limit)
  end function count_above

  recursive function add_one(context, value, length) result(failed) bind(C)
    type(c_ptr), value :: context, value
    integer(c_size_t), value :: length
    integer(c_int) :: failed
    real(real32), pointer :: elements(:)
    call c_f_pointer(value, elements, [length])
    elements = elements + 1
    failed = merge(1, 0, c_associated(context))
  end function add_one

  recursive function count_visit(context, key, value, length) result(failed) bind(C)
    type(c_ptr), value :: context, value
    integer(c_int64_t), value :: key
    integer(c_size_t), value :: length
    integer(c_int) :: failed
    integer(int64), pointer :: visits
    call c_f_pointer(context, visits)
    visits = visits + 1
    failed = merge(0, 1, key < key_count .and. length == row .and. c_associated(value))
  end function count_visit

  ! Single elements: the first of each value, which are these before and afterwards.
  recursive subroutine access_elements(worker, floats, keys, firsts)
    type(lapse_worker), intent(in) :: worker
    type(lapse_table), intent(in) :: floats
    integer(int64), intent(in) :: keys(4)
    real(real32), intent(in) :: firsts(4)
    real(real32), target, asynchronous :: pulled(4)
    type(lapse_operation) :: operation
    integer(int32), parameter :: indices(4) = 0
    integer :: i, status
    call lapse_push_elements(worker, floats, keys, indices, firsts*0 + 1)
    call lapse_push_elements_begin(worker, floats, keys(1:1), indices(1:2), [1.0_real32, 1.0_real32], 0.5_real32)
    call lapse_wait_all(worker)
    call lapse_sync_barrier(worker)
    call lapse_pull_elements(worker, floats, keys, indices, pulled)
    call expect(all(pulled(2:) == firsts(2:) + lapse_worker_count(worker)), 'elements')
    call expect(pulled(1) == firsts(1) + 2*lapse_worker_count(worker), 'an element that was pushed several times')
    call lapse_pull_elements(worker, floats, keys, indices(1:3), pulled, status)
    call expect_error(status, lapse_error_length, 'indices')
    call lapse_pull_elements(worker, floats, keys, indices + row, pulled, status)
    call expect_error(status, lapse_error_usage, 'out of range')
    ! Messages of two lengths, in all workers at the same time.
    do i = 1, 500
      call lapse_pull_elements(worker, floats, keys, indices(1:3), pulled, status)
      call expect_error(status, lapse_error_length, 'indices')
      call lapse_pull_elements(worker, floats, keys, indices + row, pulled, status)
      call expect_error(status, lapse_error_usage, 'out of range')
    end do
    call lapse_barrier(worker)
    call lapse_push_elements(worker, floats, keys, indices, [-2.0_real32, -1.0_real32, -1.0_real32, -1.0_real32])
    call lapse_sync_barrier(worker)
    call lapse_pull_elements_begin(worker, floats, keys, indices, pulled, operation)
    call lapse_wait(operation)
    call expect(all(pulled == firsts), 'elements as they were')
    call lapse_barrier(worker)
  end subroutine access_elements
end module fortran_functions
