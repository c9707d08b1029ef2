#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "floor.h"

// MARK: A query that is asked again when a notification says so

static bool isDone(PGresult *result, ExecStatusType wanted) {
    bool isDone = PQresultStatus(result) == wanted;
    PQclear(result);
    return isDone;
}

/// Waits for notifications, at most ten seconds, and takes all of them.
static bool waitForNotification(PGconn *connection) {
    int notifications = 0;
    while (true) {
        PGnotify *notification;
        while ((notification = PQnotifies(connection)) != NULL) {
            PQfreemem(notification);
            notifications++;
        }
        if (notifications > 0) return true;
        struct pollfd polled = {.fd = PQsocket(connection), .events = POLLIN};
        if (poll(&polled, 1, 10000) <= 0 || PQconsumeInput(connection) != 1) return false;
    }
}

static bool readAgain(PGconn *connection) {
    PGresult *result = PQexecPrepared(connection, "q", 0, NULL, NULL, NULL, 1);
    bool isRead = floor_read(result) > 0;
    return isDone(result, PGRES_TUPLES_OK) && isRead;
}

static double fail(PGconn *writer, PGconn *reader) {
    PQfinish(writer);
    return floor_failed(reader);
}

double floor_notified(
    floor_target target, const char *write, const char *channel, const char *read, double pause, int count,
    double *latencies
) {
    PGconn *writer = floor_connect(target, write);
    if (writer == NULL) return -1;
    PGconn *reader = floor_connect(target, read);
    if (reader == NULL) {
        PQfinish(writer);
        return -1;
    }
    char listen[80];
    snprintf(listen, sizeof listen, "LISTEN %s", channel);
    if (!isDone(PQexec(reader, listen), PGRES_COMMAND_OK)) return fail(writer, reader);
    double start = floor_now();
    for (int step = 0; step < count; step++) {
        long rest = (long)(pause * 1e9 * ((double)rand() / RAND_MAX));
        struct timespec time = {.tv_sec = rest / 1000000000, .tv_nsec = rest % 1000000000};
        nanosleep(&time, NULL);
        if (!isDone(PQexecPrepared(writer, "q", 0, NULL, NULL, NULL, 1), PGRES_TUPLES_OK)) {
            PQfinish(reader);
            return floor_failed(writer);
        }
        double committed = floor_now();
        if (!waitForNotification(reader) || !readAgain(reader)) return fail(writer, reader);
        latencies[step] = floor_now() - committed;
    }
    double seconds = floor_now() - start;
    PQfinish(writer);
    PQfinish(reader);
    return seconds;
}
