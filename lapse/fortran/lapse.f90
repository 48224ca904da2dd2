!> Lapse in Fortran: parameter servers and managers, tables, workers, checkpoints. docs/fortran.md is the page for
!> users. Each call is documented at the C function of that name, in lapse/c.
!>
!> Every procedure that can fail has an optional argument ierr, which returns lapse_ok or another status; then
!> lapse_last_error() has the message. Without ierr, a failure prints the message and ends the program. Keys are
!> integer(int64).
module lapse
  use lapse_c, only: lapse_ok, lapse_error_usage, lapse_error_key, lapse_error_length, lapse_error_closed, &
                     lapse_error_collective, lapse_error_configuration, lapse_error_mpi_state, lapse_error_mpi, &
                     lapse_error_memory, lapse_error_peer_failed, lapse_error_user_code, lapse_error_checkpoint, &
                     lapse_error_internal, lapse_float, lapse_double, lapse_int32, lapse_int64, lapse_zero, &
                     lapse_constant, lapse_uniform, lapse_normal, lapse_initialise, lapse_add, lapse_assign, &
                     lapse_sgd, lapse_adagrad, lapse_rowwise_adagrad, lapse_adam, lapse_ftrl, lapse_custom, &
                     lapse_merge_additive, lapse_merge_gradient, lapse_merge_none, lapse_home_hash, &
                     lapse_home_range, lapse_home_custom, lapse_default, lapse_off, lapse_on, &
                     lapse_consistency_default, lapse_consistency_sequential, lapse_consistency_eventual, lapse_local, &
                     lapse_not_finite_allow, lapse_not_finite_count, lapse_not_finite_refuse, &
                     lapse_not_local, lapse_private_to_neighbour, lapse_sum, lapse_min, lapse_max, &
                     lapse_scheme_default, lapse_naive, lapse_prelocalised, lapse_pool, lapse_local_scheme, &
                     lapse_rule
  use lapse_types, only: lapse_server, lapse_table, lapse_function, lapse_worker, lapse_operation, lapse_lease, &
                         lapse_lease_part, lapse_checkpoints, lapse_sampler, lapse_sample, lapse_last_error, lapse_version
  use lapse_hooks
  use lapse_servers
  use lapse_tables
  use lapse_workers
  use lapse_managers
  use lapse_checkpointing
  use lapse_jobs
  use lapse_float_vectors
  use lapse_float_matrices
  use lapse_double_vectors
  use lapse_double_matrices
  use lapse_int32_vectors
  use lapse_int32_matrices
  use lapse_int64_vectors
  use lapse_int64_matrices
  implicit none
  public
end module lapse
