!> Functions of workers and managers in the C interface. Programs use module lapse.
module lapse_worker_c
  use, intrinsic :: iso_c_binding
  implicit none
  public

  ! --- worker.h ---
  type, bind(C) :: c_sampler_options
    integer(c_size_t) :: size
    integer(c_int) :: scheme
    integer(c_int) :: with_replacement
    integer(c_int) :: postpone
    integer(c_int32_t) :: pool_keys
    integer(c_int32_t) :: pool_uses
    type(c_ptr) :: seed
  end type c_sampler_options

  type, bind(C) :: c_lease_part
    type(c_ptr) :: table
    type(c_ptr) :: keys
    integer(c_size_t) :: count
  end type c_lease_part

  interface
    integer(c_size_t) function c_worker_index(worker) bind(C, name="lapse_worker_index")
      import
      type(c_ptr), value :: worker
    end function c_worker_index
    integer(c_size_t) function c_worker_count(worker) bind(C, name="lapse_worker_count")
      import
      type(c_ptr), value :: worker
    end function c_worker_count
    integer(c_size_t) function c_worker_local_index(worker) bind(C, name="lapse_worker_local_index")
      import
      type(c_ptr), value :: worker
    end function c_worker_local_index
    integer(c_size_t) function c_worker_local_count(worker) bind(C, name="lapse_worker_local_count")
      import
      type(c_ptr), value :: worker
    end function c_worker_local_count
    integer(c_int) function c_pull(worker, table, keys, count, values, elements) bind(C, name="lapse_pull")
      import
      type(c_ptr), value :: worker, table, keys, values
      integer(c_size_t), value :: count, elements
    end function c_pull
    integer(c_int) function c_set(worker, table, keys, count, values, elements) bind(C, name="lapse_set")
      import
      type(c_ptr), value :: worker, table, keys, values
      integer(c_size_t), value :: count, elements
    end function c_set
    integer(c_int) function c_localize(worker, table, keys, count) bind(C, name="lapse_localize")
      import
      type(c_ptr), value :: worker, table, keys
      integer(c_size_t), value :: count
    end function c_localize
    integer(c_int) function c_pull_elements(worker, table, keys, key_count, indices, values, elements) &
        bind(C, name="lapse_pull_elements")
      import
      type(c_ptr), value :: worker, table, keys, indices, values
      integer(c_size_t), value :: key_count, elements
    end function c_pull_elements
    integer(c_int) function c_pull_elements_begin(worker, table, keys, key_count, indices, values, elements, &
                                                  operation) bind(C, name="lapse_pull_elements_begin")
      import
      type(c_ptr), value :: worker, table, keys, indices, values
      integer(c_size_t), value :: key_count, elements
      type(c_ptr), intent(inout) :: operation
    end function c_pull_elements_begin
    integer(c_int) function c_push_elements_begin(worker, table, keys, key_count, indices, updates, elements, scale, &
                                                  operation) bind(C, name="lapse_push_elements_begin")
      import
      type(c_ptr), value :: worker, table, keys, indices, updates
      integer(c_size_t), value :: key_count, elements
      real(c_float), value :: scale
      type(c_ptr), intent(inout), optional :: operation
    end function c_push_elements_begin
    integer(c_int) function c_call(worker, table, run, keys, count, arguments, results) &
        bind(C, name="lapse_call")
      import
      type(c_ptr), value :: worker, table, run, keys, arguments, results
      integer(c_size_t), value :: count
    end function c_call
    integer(c_int) function c_pull_begin(worker, table, keys, count, values, elements, operation) &
        bind(C, name="lapse_pull_begin")
      import
      type(c_ptr), value :: worker, table, keys, values
      integer(c_size_t), value :: count, elements
      type(c_ptr), intent(inout) :: operation
    end function c_pull_begin
    integer(c_int) function c_push_begin(worker, table, keys, count, updates, elements, scale, operation) &
        bind(C, name="lapse_push_begin")
      import
      type(c_ptr), value :: worker, table, keys, updates
      integer(c_size_t), value :: count, elements
      real(c_float), value :: scale
      type(c_ptr), intent(inout), optional :: operation
    end function c_push_begin
    integer(c_int) function c_set_begin(worker, table, keys, count, values, elements, operation) &
        bind(C, name="lapse_set_begin")
      import
      type(c_ptr), value :: worker, table, keys, values
      integer(c_size_t), value :: count, elements
      type(c_ptr), intent(inout), optional :: operation
    end function c_set_begin
    integer(c_int) function c_localize_begin(worker, table, keys, count, operation) &
        bind(C, name="lapse_localize_begin")
      import
      type(c_ptr), value :: worker, table, keys
      integer(c_size_t), value :: count
      type(c_ptr), intent(inout), optional :: operation
    end function c_localize_begin
    integer(c_int) function c_operation_done(operation) bind(C, name="lapse_operation_done")
      import
      type(c_ptr), value :: operation
    end function c_operation_done
    integer(c_int) function c_wait(operation) bind(C, name="lapse_wait")
      import
      type(c_ptr), value :: operation
    end function c_wait
    subroutine c_operation_free(operation) bind(C, name="lapse_operation_free")
      import
      type(c_ptr), value :: operation
    end subroutine c_operation_free
    integer(c_int) function c_pull_if_local(worker, table, key, value, elements, done) &
        bind(C, name="lapse_pull_if_local")
      import
      type(c_ptr), value :: worker, table, value
      integer(c_int64_t), value :: key
      integer(c_size_t), value :: elements
      integer(c_int), intent(inout) :: done
    end function c_pull_if_local
    integer(c_int) function c_update_if_local(worker, table, key, update, context, done) &
        bind(C, name="lapse_update_if_local")
      import
      type(c_ptr), value :: worker, table, context
      integer(c_int64_t), value :: key
      type(c_funptr), value :: update
      integer(c_int), intent(inout) :: done
    end function c_update_if_local
    integer(c_int) function c_locality_of(worker, table, key, locality) bind(C, name="lapse_locality_of")
      import
      type(c_ptr), value :: worker, table
      integer(c_int64_t), value :: key
      integer(c_int), intent(inout) :: locality
    end function c_locality_of
    integer(c_int) function c_for_each_local(worker, table, visit, context) &
        bind(C, name="lapse_for_each_local")
      import
      type(c_ptr), value :: worker, table, context
      type(c_funptr), value :: visit
    end function c_for_each_local
    integer(c_int) function c_lease_tables(worker, parts, count, lease) bind(C, name="lapse_lease_tables")
      import
      type(c_ptr), value :: worker
      type(c_lease_part), intent(in) :: parts(*)
      integer(c_size_t), value :: count
      type(c_ptr), intent(inout) :: lease
    end function c_lease_tables
    integer(c_int) function c_lease_value(lease, i, value, length, state, state_length) &
        bind(C, name="lapse_lease_value")
      import
      type(c_ptr), value :: lease
      integer(c_size_t), value :: i
      type(c_ptr), intent(inout) :: value, state
      integer(c_size_t), intent(inout) :: length, state_length
    end function c_lease_value
    integer(c_int) function c_lease_apply(lease, i, update, elements, scale) &
        bind(C, name="lapse_lease_apply")
      import
      type(c_ptr), value :: lease, update
      integer(c_size_t), value :: i, elements
      real(c_float), value :: scale
    end function c_lease_apply
    integer(c_int) function c_lease_release(lease) bind(C, name="lapse_lease_release")
      import
      type(c_ptr), value :: lease
    end function c_lease_release
    integer(c_int) function c_wait_all(worker) bind(C, name="lapse_wait_all")
      import
      type(c_ptr), value :: worker
    end function c_wait_all
    integer(c_int) function c_wait_sync(worker) bind(C, name="lapse_wait_sync")
      import
      type(c_ptr), value :: worker
    end function c_wait_sync
    integer(c_int) function c_barrier(worker) bind(C, name="lapse_barrier")
      import
      type(c_ptr), value :: worker
    end function c_barrier
    integer(c_int) function c_sync_barrier(worker) bind(C, name="lapse_sync_barrier")
      import
      type(c_ptr), value :: worker
    end function c_sync_barrier
    integer(c_int) function c_all_reduce_double(worker, values, count, reduce) &
        bind(C, name="lapse_all_reduce_double")
      import
      type(c_ptr), value :: worker
      real(c_double), intent(inout) :: values(*)
      integer(c_size_t), value :: count
      integer(c_int), value :: reduce
    end function c_all_reduce_double
    integer(c_int) function c_all_reduce_int64(worker, values, count, reduce) &
        bind(C, name="lapse_all_reduce_int64")
      import
      type(c_ptr), value :: worker
      integer(c_int64_t), intent(inout) :: values(*)
      integer(c_size_t), value :: count
      integer(c_int), value :: reduce
    end function c_all_reduce_int64
    integer(c_int) function c_broadcast(worker, bytes, count, root) bind(C, name="lapse_broadcast")
      import
      type(c_ptr), value :: worker, bytes
      integer(c_size_t), value :: count, root
    end function c_broadcast
  end interface

  ! --- manager.h ---
  interface
    integer(c_int) function c_intent(worker, table, keys, count, begin, end) bind(C, name="lapse_intent")
      import
      type(c_ptr), value :: worker, table, keys
      integer(c_size_t), value :: count
      integer(c_int64_t), value :: begin, end
    end function c_intent
    integer(c_int) function c_intent_read(worker, table, keys, count, begin, end) bind(C, name="lapse_intent_read")
      import
      type(c_ptr), value :: worker, table, keys
      integer(c_size_t), value :: count
      integer(c_int64_t), value :: begin, end
    end function c_intent_read
    integer(c_int) function c_intent_range(worker, table, first, past, begin, end) &
        bind(C, name="lapse_intent_range")
      import
      type(c_ptr), value :: worker, table
      integer(c_int64_t), value :: first, past, begin, end
    end function c_intent_range
    integer(c_int) function c_intent_range_read(worker, table, first, past, begin, end) &
        bind(C, name="lapse_intent_range_read")
      import
      type(c_ptr), value :: worker, table
      integer(c_int64_t), value :: first, past, begin, end
    end function c_intent_range_read
    integer(c_int) function c_advance_clock(worker) bind(C, name="lapse_advance_clock")
      import
      type(c_ptr), value :: worker
    end function c_advance_clock
    integer(c_int) function c_current_clock(worker, clock) bind(C, name="lapse_current_clock")
      import
      type(c_ptr), value :: worker
      integer(c_int64_t), intent(inout) :: clock
    end function c_current_clock
    integer(c_int) function c_set_frequencies(server, table, counts, count) bind(C, name="lapse_set_frequencies")
      import
      type(c_ptr), value :: server, table
      integer(c_int64_t), intent(in) :: counts(*)
      integer(c_size_t), value :: count
    end function c_set_frequencies
    subroutine c_sampler_options_init(options) bind(C, name="lapse_sampler_options_init")
      import
      type(c_sampler_options), intent(out) :: options
    end subroutine c_sampler_options_init
    integer(c_int) function c_sampler_create(server, table, first, count, log_uniform, weights, options, sampler) &
        bind(C, name="lapse_sampler_create")
      import
      type(c_ptr), value :: server, table, weights
      integer(c_int64_t), value :: first, count
      integer(c_int), value :: log_uniform
      type(c_sampler_options), intent(in) :: options
      type(c_ptr), intent(inout) :: sampler
    end function c_sampler_create
    integer(c_int) function c_sample_prepare(worker, sampler, keys, begin, end, sample) &
        bind(C, name="lapse_sample_prepare")
      import
      type(c_ptr), value :: worker, sampler
      integer(c_size_t), value :: keys
      integer(c_int64_t), value :: begin, end
      type(c_ptr), intent(inout) :: sample
    end function c_sample_prepare
    integer(c_int) function c_sample_pull(worker, sample, keys, count, values, elements) &
        bind(C, name="lapse_sample_pull")
      import
      type(c_ptr), value :: worker, sample, keys, values
      integer(c_size_t), value :: count, elements
    end function c_sample_pull
    integer(c_int) function c_sample_take(worker, sample, keys, count) bind(C, name="lapse_sample_take")
      import
      type(c_ptr), value :: worker, sample, keys
      integer(c_size_t), value :: count
    end function c_sample_take
    subroutine c_sample_finish(sample) bind(C, name="lapse_sample_finish")
      import
      type(c_ptr), value :: sample
    end subroutine c_sample_finish
  end interface
end module lapse_worker_c
