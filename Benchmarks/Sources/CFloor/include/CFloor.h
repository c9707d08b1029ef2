#ifndef KINDRED_BENCHMARKS_CFLOOR_H
#define KINDRED_BENCHMARKS_CFLOOR_H

// What libpq itself needs for each workload, in C: prepared statements, binary results, and no more done with a row
// than looking at the length of each value. Connecting and preparing are not measured.
//
// Each function returns the seconds that it took, or a negative number after printing what went wrong.

/// Where to connect: a URI, and a database that takes the place of the URI's.
typedef struct {
    const char *uri;
    const char *database;
} floor_target;

/// Runs a script of any number of statements.
double floor_script(floor_target target, const char *script);

/// `count` executions of a statement with one int4 parameter, 1 to `keys` in turn, each waiting for its answer.
double floor_lookup(floor_target target, const char *sql, int keys, int count);

/// `count` executions of a statement without parameters, each read completely; adds up the rows in `rows`.
double floor_rows(floor_target target, const char *sql, int count, long *rows);

/// Threads that share fewer connections through a mutex and a condition, `count` look-ups each.
double floor_threads(floor_target target, const char *sql, int keys, int threads, int connections, int count);

/// One thread with `inFlight` look-ups under way over some connections in pipeline mode, each with a Sync of its own.
double floor_pipeline(floor_target target, const char *sql, int keys, int inFlight, int connections, int count);

/// One execution of a statement with three array parameters (int4, text, int4) of `count` elements, whose rows come back.
double floor_insert(floor_target target, const char *sql, int keys, int count);

/// `count` executions of a statement with two int4 parameters, 1 to `count` and a value, in one transaction over a pipeline.
double floor_updates(floor_target target, const char *sql, int value, int count);

/// `count` executions of a statement with two int4 parameters, the key behind which a page begins: first 0 and 0, then the
/// columns `first` and `second` of the last row before. Adds up the rows in `rows`; a page without rows is a failure.
double floor_pages(floor_target target, const char *sql, int first, int second, int count, long *rows);

/// For each of `count` members from the key `first` on, a statement that sets its owner, and again one that sets it to NULL;
/// its two int4 parameters are the member and the owner. Each waits for its answer.
double floor_members(floor_target target, const char *sql, int owner, int first, int count);

/// `count` times, after a pause of up to `pause` seconds: one connection runs `write`, which notifies a channel; another one,
/// which listens there, then runs `read`. `latencies` takes the seconds from the answer of the first to that of the second.
double floor_notified(
    floor_target target, const char *write, const char *channel, const char *read, double pause, int count,
    double *latencies);

/// Seconds of processor time that this process has spent so far, in all of its threads.
double floor_processor_seconds(void);

/// Binds this process, and what it starts from now on, to one processor. Returns 0 where that is not possible.
int floor_pin(void);

#endif
