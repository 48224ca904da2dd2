/* Lapse in C99: parameter servers and managers, tables, workers, checkpoints.
 *
 * Every call that can fail returns a lapse_status; lapse_last_error() has the text. No call ends the process,
 * and no exception leaves a call. What each call means stands with the C++ function of the same name, in the
 * headers lapse/ps/parameter_server.hpp, lapse/ps/worker.hpp, lapse/jobs/checkpoints.hpp,
 * lapse/jobs/job_control.hpp and adapm/parameter_manager.hpp; here stands what is different.
 *
 * Pointers that a call fills are not touched when it fails. Strings are UTF-8 and end with 0. Values are
 * arrays of the table's element type, row by row in the order of the keys: in C11 the compiler passes on the type
 * (lapse/c/elements.h), and another one is refused. */
#ifndef LAPSE_H
#define LAPSE_H

#include "lapse/c/checkpoints.h"
#include "lapse/c/job.h"
#include "lapse/c/manager.h"
#include "lapse/c/server.h"
#include "lapse/c/status.h"
#include "lapse/c/table.h"
#include "lapse/c/worker.h"

#include "lapse/c/elements.h"

#endif
