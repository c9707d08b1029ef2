#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "floor.h"

// MARK: One INSERT of many rows

/// The binary form of an array: its header, then the length and the bytes of each element.
static char *beginArray(char *to, unsigned elementType, int count) {
    const unsigned header[] = {htonl(1), 0, htonl(elementType), htonl((unsigned)count), htonl(1)};
    memcpy(to, header, sizeof header);
    return to + sizeof header;
}

static char *append(char *to, const void *bytes, int length) {
    unsigned prefix = htonl((unsigned)length);
    memcpy(to, &prefix, sizeof prefix);
    memcpy(to + sizeof prefix, bytes, (size_t)length);
    return to + sizeof prefix + length;
}

double floor_insert(floor_target target, const char *sql, int keys, int count) {
    PGconn *connection = floor_connect(target, sql);
    if (connection == NULL) return -1;
    double start = floor_now();
    char *books = malloc(20 + (size_t)count * 8), *texts = malloc(20 + (size_t)count * 44),
         *stars = malloc(20 + (size_t)count * 8);
    if (books == NULL || texts == NULL || stars == NULL) return -1;
    char *ends[] = {beginArray(books, 23, count), beginArray(texts, 25, count), beginArray(stars, 23, count)};
    for (int row = 0; row < count; row++) {
        unsigned book = htonl((unsigned)(row % keys + 1)), star = htonl((unsigned)(row % 5));
        char text[40];
        int length = snprintf(text, sizeof text, "The review with the number %d", row);
        ends[0] = append(ends[0], &book, 4);
        ends[1] = append(ends[1], text, length);
        ends[2] = append(ends[2], &star, 4);
    }
    const char *values[] = {books, texts, stars};
    const int lengths[] = {(int)(ends[0] - books), (int)(ends[1] - texts), (int)(ends[2] - stars)};
    const int formats[] = {1, 1, 1};
    PGresult *result = PQexecPrepared(connection, "q", 3, values, lengths, formats, 1);
    bool isDone = PQntuples(result) == count && floor_read(result) > 0;
    PQclear(result);
    double seconds = floor_now() - start;
    free(books);
    free(texts);
    free(stars);
    if (!isDone) return floor_failed(connection);
    PQfinish(connection);
    return seconds;
}

// MARK: An UPDATE for each row, in a pipeline

/// Reads until the answer to a Sync; false if a statement failed.
static bool readToSync(PGconn *connection) {
    bool isFine = true;
    while (true) {
        PGresult *result = PQgetResult(connection);
        if (result == NULL) continue;
        ExecStatusType status = PQresultStatus(result);
        PQclear(result);
        if (status == PGRES_PIPELINE_SYNC) return isFine;
        if (status != PGRES_COMMAND_OK) {
            isFine = false;
            if (PQstatus(connection) != CONNECTION_OK) return false;
        }
    }
}

double floor_updates(floor_target target, const char *sql, int value, int count) {
    // So many answers fit into the socket while nobody reads them.
    enum { batch = 500 };
    PGconn *connection = floor_connect(target, sql);
    if (connection == NULL || PQenterPipelineMode(connection) != 1) return -1;
    double start = floor_now();
    PQsendQueryParams(connection, "BEGIN", 0, NULL, NULL, NULL, NULL, 1);
    unsigned second = htonl((unsigned)value);
    static const int lengths[] = {4, 4}, formats[] = {1, 1};
    for (int row = 1; row <= count; row++) {
        unsigned first = htonl((unsigned)row);
        const char *values[] = {(const char *)&first, (const char *)&second};
        if (PQsendQueryPrepared(connection, "q", 2, values, lengths, formats, 1) != 1) return floor_failed(connection);
        if (row % batch != 0 && row != count) continue;
        if (row == count) PQsendQueryParams(connection, "COMMIT", 0, NULL, NULL, NULL, NULL, 1);
        if (PQpipelineSync(connection) != 1 || !readToSync(connection)) return floor_failed(connection);
    }
    double seconds = floor_now() - start;
    PQfinish(connection);
    return seconds;
}

// MARK: A member that joins its owner and leaves it again

double floor_members(floor_target target, const char *sql, int owner, int first, int count) {
    PGconn *connection = floor_connect(target, sql);
    if (connection == NULL) return -1;
    unsigned ownerKey = htonl((unsigned)owner);
    static const int lengths[] = {4, 4}, formats[] = {1, 1};
    double start = floor_now();
    for (int step = 0; step < 2 * count; step++) {
        unsigned member = htonl((unsigned)(first + step / 2));
        const char *values[] = {(const char *)&member, step % 2 == 0 ? (const char *)&ownerKey : NULL};
        PGresult *result = PQexecPrepared(connection, "q", 2, values, lengths, formats, 1);
        bool isChanged = strcmp(PQcmdTuples(result), "1") == 0;
        PQclear(result);
        if (!isChanged) return floor_failed(connection);
    }
    double seconds = floor_now() - start;
    PQfinish(connection);
    return seconds;
}
