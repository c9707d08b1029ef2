#include <arpa/inet.h>
#include <string.h>

#include "floor.h"

// MARK: Pages, each beginning behind the last row of the one before

double floor_pages(floor_target target, const char *sql, int first, int second, int count, long *rows) {
    PGconn *connection = floor_connect(target, sql);
    if (connection == NULL) return -1;
    // Below every key.
    char keys[2][4] = {{0}, {0}};
    const char *values[] = {keys[0], keys[1]};
    static const int lengths[] = {4, 4}, formats[] = {1, 1};
    const int columns[] = {first, second};
    double start = floor_now();
    for (int page = 0; page < count; page++) {
        PGresult *result = PQexecPrepared(connection, "q", 2, values, lengths, formats, 1);
        int size = PQntuples(result);
        bool isRead = size > 0 && floor_read(result) > 0;
        for (int key = 0; isRead && key < 2; key++) {
            isRead = PQgetlength(result, size - 1, columns[key]) == 4;
            if (isRead) memcpy(keys[key], PQgetvalue(result, size - 1, columns[key]), 4);
        }
        *rows += size;
        PQclear(result);
        if (!isRead) return floor_failed(connection);
    }
    double seconds = floor_now() - start;
    PQfinish(connection);
    return seconds;
}
