#include <libpq-fe.h>
#include <stdbool.h>

#include "CFloor.h"

double floor_now(void);

/// Connects and prepares `sql` as "q"; NULL after printing what went wrong.
PGconn *floor_connect(floor_target target, const char *sql);

/// A key between 1 and `keys`, not in the order of the table.
static inline int floor_key(long step, int keys) {
    return (int)(step * 7919 % keys) + 1;
}

/// Prints what the connection says, closes it, and returns the number that stands for failure.
double floor_failed(PGconn *connection);

/// Looks at the length of each value.
long floor_read(const PGresult *result);

/// Sends the execution of "q" with a key.
bool floor_send(PGconn *connection, int key);
