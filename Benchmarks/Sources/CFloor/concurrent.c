#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "floor.h"

enum { maximumConnections = 64, maximumThreads = 256 };

// MARK: Threads and a pool

typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t returned;
    PGconn *free[maximumConnections];
    int freeCount;
    int keys, count;
    bool hasFailed;
} pool;

typedef struct {
    pool *pool;
    int number;
} worker;

static void *work(void *argument) {
    worker *self = argument;
    pool *pool = self->pool;
    static const int length = 4, binary = 1;
    for (int step = 0; step < pool->count; step++) {
        pthread_mutex_lock(&pool->mutex);
        while (pool->freeCount == 0) pthread_cond_wait(&pool->returned, &pool->mutex);
        PGconn *connection = pool->free[--pool->freeCount];
        pthread_mutex_unlock(&pool->mutex);

        int key = (int)htonl((unsigned)floor_key((long)self->number * pool->count + step, pool->keys));
        const char *values[] = {(const char *)&key};
        PGresult *result = PQexecPrepared(connection, "q", 1, values, &length, &binary, 1);
        bool isFound = PQntuples(result) == 1 && floor_read(result) > 0;
        PQclear(result);

        pthread_mutex_lock(&pool->mutex);
        if (!isFound) pool->hasFailed = true;
        pool->free[pool->freeCount++] = connection;
        pthread_cond_signal(&pool->returned);
        pthread_mutex_unlock(&pool->mutex);
    }
    return NULL;
}

double floor_threads(floor_target target, const char *sql, int keys, int threads, int connections, int count) {
    if (connections > maximumConnections || threads > maximumThreads) return -1;
    pool pool = {.keys = keys, .count = count};
    pthread_mutex_init(&pool.mutex, NULL);
    pthread_cond_init(&pool.returned, NULL);
    for (; pool.freeCount < connections; pool.freeCount++)
        if ((pool.free[pool.freeCount] = floor_connect(target, sql)) == NULL) return -1;
    pthread_t ids[maximumThreads];
    worker workers[maximumThreads];
    double start = floor_now();
    for (int number = 0; number < threads; number++) {
        workers[number] = (worker){.pool = &pool, .number = number};
        if (pthread_create(&ids[number], NULL, work, &workers[number]) != 0) return -1;
    }
    for (int number = 0; number < threads; number++) pthread_join(ids[number], NULL);
    double seconds = floor_now() - start;
    while (pool.freeCount > 0) PQfinish(pool.free[--pool.freeCount]);
    pthread_mutex_destroy(&pool.mutex);
    pthread_cond_destroy(&pool.returned);
    return pool.hasFailed ? -1 : seconds;
}

// MARK: Pipelines

/// Takes in the answers that are there; returns how many look-ups they complete, or -1.
static int receive(PGconn *connection) {
    if (PQconsumeInput(connection) == 0) return -1;
    int completed = 0, nulls = 0;
    // A NULL ends each statement's results; two in a row mean that nothing more is expected.
    while (PQisBusy(connection) == 0 && nulls < 2) {
        PGresult *result = PQgetResult(connection);
        if (result == NULL) {
            nulls++;
            continue;
        }
        nulls = 0;
        ExecStatusType status = PQresultStatus(result);
        bool isFound = status == PGRES_TUPLES_OK && PQntuples(result) > 0 && floor_read(result) > 0;
        PQclear(result);
        if (isFound) continue;
        if (status != PGRES_PIPELINE_SYNC) return -1;
        completed++;
    }
    return completed;
}

static bool submit(PGconn *connection, int key) {
    return floor_send(connection, key) && PQpipelineSync(connection) == 1;
}

double floor_pipeline(floor_target target, const char *sql, int keys, int inFlight, int connections, int count) {
    PGconn *open[maximumConnections];
    struct pollfd polled[maximumConnections];
    if (connections > maximumConnections) return -1;
    for (int index = 0; index < connections; index++) {
        if ((open[index] = floor_connect(target, sql)) == NULL) return -1;
        if (PQsetnonblocking(open[index], 1) != 0 || PQenterPipelineMode(open[index]) != 1) return -1;
        polled[index] = (struct pollfd){.fd = PQsocket(open[index]), .events = POLLIN};
    }
    long sent = 0, received = 0;
    double start = floor_now();
    for (; sent < inFlight && sent < count; sent++)
        if (!submit(open[sent % connections], floor_key(sent, keys))) return floor_failed(open[sent % connections]);
    while (received < count) {
        if (poll(polled, (nfds_t)connections, 10000) <= 0) return -1;
        for (int index = 0; index < connections; index++) {
            if (polled[index].revents == 0) continue;
            int completed = receive(open[index]);
            if (completed < 0) return floor_failed(open[index]);
            received += completed;
            for (; completed > 0 && sent < count; completed--, sent++)
                if (!submit(open[index], floor_key(sent, keys))) return floor_failed(open[index]);
            PQflush(open[index]);
        }
    }
    double seconds = floor_now() - start;
    for (int index = 0; index < connections; index++) PQfinish(open[index]);
    return seconds;
}
