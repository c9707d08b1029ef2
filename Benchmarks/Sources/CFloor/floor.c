#define _GNU_SOURCE
#include "floor.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#ifdef __linux__
#include <sched.h>
#endif

double floor_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double floor_failed(PGconn *connection) {
    fprintf(stderr, "libpq: %s", PQerrorMessage(connection));
    PQfinish(connection);
    return -1;
}

PGconn *floor_connect(floor_target target, const char *sql) {
    // The first "dbname" is taken as a URI, the second as a name.
    const char *keywords[] = {"dbname", "dbname", NULL};
    const char *values[] = {target.uri, target.database, NULL};
    PGconn *connection = PQconnectdbParams(keywords, values, 1);
    if (PQstatus(connection) != CONNECTION_OK) {
        floor_failed(connection);
        return NULL;
    }
    if (sql == NULL) return connection;
    PGresult *result = PQprepare(connection, "q", sql, 0, NULL);
    bool isPrepared = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    if (isPrepared) return connection;
    floor_failed(connection);
    return NULL;
}

long floor_read(const PGresult *result) {
    long bytes = 0;
    int rows = PQntuples(result), columns = PQnfields(result);
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++) bytes += PQgetlength(result, row, column);
    return bytes;
}

static const int keyLength = 4, binary = 1;

bool floor_send(PGconn *connection, int key) {
    int value = (int)htonl((unsigned)key);
    const char *values[] = {(const char *)&value};
    return PQsendQueryPrepared(connection, "q", 1, values, &keyLength, &binary, 1) == 1;
}

static void ignore(void *argument, const char *notice) {
    (void)argument;
    (void)notice;
}

double floor_script(floor_target target, const char *script) {
    PGconn *connection = floor_connect(target, NULL);
    if (connection == NULL) return -1;
    PQsetNoticeProcessor(connection, ignore, NULL);
    double start = floor_now();
    PGresult *result = PQexec(connection, script);
    double seconds = floor_now() - start;
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return floor_failed(connection);
    PQfinish(connection);
    return seconds;
}

double floor_lookup(floor_target target, const char *sql, int keys, int count) {
    PGconn *connection = floor_connect(target, sql);
    if (connection == NULL) return -1;
    double start = floor_now();
    for (int step = 0; step < count; step++) {
        int value = (int)htonl((unsigned)floor_key(step, keys));
        const char *values[] = {(const char *)&value};
        PGresult *result = PQexecPrepared(connection, "q", 1, values, &keyLength, &binary, 1);
        bool isFound = PQntuples(result) == 1 && floor_read(result) > 0;
        PQclear(result);
        if (!isFound) return floor_failed(connection);
    }
    double seconds = floor_now() - start;
    PQfinish(connection);
    return seconds;
}

double floor_rows(floor_target target, const char *sql, int count, long *rows) {
    PGconn *connection = floor_connect(target, sql);
    if (connection == NULL) return -1;
    double start = floor_now();
    for (int step = 0; step < count; step++) {
        PGresult *result = PQexecPrepared(connection, "q", 0, NULL, NULL, NULL, 1);
        bool isRead = PQresultStatus(result) == PGRES_TUPLES_OK && floor_read(result) >= 0;
        *rows += PQntuples(result);
        PQclear(result);
        if (!isRead) return floor_failed(connection);
    }
    double seconds = floor_now() - start;
    PQfinish(connection);
    return seconds;
}

double floor_processor_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int floor_pin(void) {
#ifdef __linux__
    cpu_set_t processors;
    CPU_ZERO(&processors);
    CPU_SET(sched_getcpu(), &processors);
    return sched_setaffinity(0, sizeof processors, &processors) == 0;
#else
    return 0;
#endif
}
