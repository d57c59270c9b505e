// Measures the delivery of `postgres-notify` without the harness. One thread makes RATE commits per second, of one row
// each. The main thread is notified by a trigger and reads all rows of a query in one state. If any differ, it passes
// the rows to a third thread, like an application with a user interface thread. That thread takes the time since the
// write began.
//   prove-postgres CONNECTION RATE SECONDS   prints the median in µs, and commits per reading
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 1000, MOST = 1 << 20 };
static double begun_us[MOST], taken_us[MOST];
static int total, interval_us;
static const char *server;

/// Rows passed from the main thread to `show`, one state at a time. `taken` is posted when the rows may be replaced.
struct row { long long key, group, score, stamp; };
static struct row rows[ROWS];
static int row_count, is_over, handed;
static sem_t taken;
static long long highest, readings, samples;

static double now_us(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e6 + t.tv_nsec / 1e3; }

static int compare(const void *a, const void *b) { return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b); }

static PGresult *run(PGconn *connection, const char *sql) {
    PGresult *result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK && PQresultStatus(result) != PGRES_COMMAND_OK) fprintf(stderr, "%s", PQerrorMessage(connection)), exit(1);
    return result;
}

/// Returns all rows of the query. Reads them and the snapshot of one state in one round trip.
static PGresult *read_rows(PGconn *connection) {
    PGresult *rows = NULL, *result;
    PQenterPipelineMode(connection);
    PQsendQueryParams(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", 0, NULL, NULL, NULL, NULL, 1);
    PQsendQueryPrepared(connection, "snap", 0, NULL, NULL, NULL, 1);
    PQsendQueryPrepared(connection, "rows", 0, NULL, NULL, NULL, 1);
    PQsendQueryParams(connection, "COMMIT", 0, NULL, NULL, NULL, NULL, 1);
    PQpipelineSync(connection);
    for (int ended = 0; !ended;) {
        if (!(result = PQgetResult(connection))) continue;
        ended = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        if (PQresultStatus(result) == PGRES_TUPLES_OK && PQnfields(result) == 4) rows = result; else PQclear(result);
    }
    PQexitPipelineMode(connection);
    if (!rows) fprintf(stderr, "%s", PQerrorMessage(connection)), exit(1);
    return rows;
}

static void *write_rows(void *unused) {
    PGconn *connection = PQconnectdb(server);
    double start_us = now_us() + 1e5;
    PQclear(PQprepare(connection, "touch", "UPDATE proof SET stamp = $1 WHERE key = $2", 0, NULL));
    for (int commit = 1; commit <= total; commit++) {
        struct timespec until = {0};
        double due_us = start_us + (double)commit * interval_us;
        until.tv_sec = due_us / 1e6, until.tv_nsec = (due_us - until.tv_sec * 1e6) * 1e3;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        char stamp[12], key[12];
        snprintf(stamp, sizeof stamp, "%d", commit), snprintf(key, sizeof key, "%d", commit * 7919 % ROWS);
        begun_us[commit] = now_us();
        PQclear(PQexecPrepared(connection, "touch", 2, (const char *[]){stamp, key}, NULL, NULL, 0));
    }
    return PQfinish(connection), unused;
}

/// Waits with epoll like a run loop, which has several sources.
static void *show(void *unused) {
    int sources = epoll_create1(0);
    epoll_ctl(sources, EPOLL_CTL_ADD, handed, &(struct epoll_event){.events = EPOLLIN});
    while (1) {
        struct epoll_event event;
        uint64_t count;
        epoll_wait(sources, &event, 1, -1);
        if (read(handed, &count, sizeof count) < 0 || is_over) break;
        double seen_us = now_us();
        long long before = highest, found = samples;
        for (int row = 0; row < row_count; row++) {
            if (rows[row].stamp <= before) continue;
            taken_us[samples++] = seen_us - begun_us[rows[row].stamp];
            if (rows[row].stamp > highest) highest = rows[row].stamp;
        }
        // Commits to rows outside of the query are not counted, as in the harness.
        if (samples > found) readings++;
        sem_post(&taken);
    }
    return close(sources), unused;
}

static void hand_over(void) { if (eventfd_write(handed, 1) != 0) perror("eventfd"), exit(1); }

static long long number(const PGresult *result, int row, int column) {
    unsigned long long word;
    memcpy(&word, PQgetvalue(result, row, column), sizeof word);
    return (long long)__builtin_bswap64(word);
}

int main(int count, char **words) {
    if (count != 4) return fprintf(stderr, "usage: prove-postgres CONNECTION RATE SECONDS\n"), 2;
    server = words[1], interval_us = 1000000 / atoi(words[2]), total = atoi(words[2]) * atoi(words[3]);
    PGconn *connection = PQconnectdb(server);
    PQclear(run(connection,
        "SET client_min_messages = error; DROP TABLE IF EXISTS proof; DROP FUNCTION IF EXISTS announce_proof;"
        "CREATE TABLE proof (key bigint PRIMARY KEY, grp bigint, score bigint, stamp bigint);"
        "INSERT INTO proof SELECT n, 0, n * 7919 % 1000, 0 FROM generate_series(0, 999) n; CREATE INDEX ON proof (score); CREATE INDEX ON proof (grp);"
        "CREATE FUNCTION announce_proof() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_notify(''proof'', ''''); RETURN NULL; END';"
        "CREATE TRIGGER announce AFTER UPDATE ON proof EXECUTE FUNCTION announce_proof(); LISTEN proof"));
    PQclear(run(connection, "VACUUM ANALYZE proof"));
    PQclear(PQprepare(connection, "snap", "SELECT pg_current_snapshot()::text", 0, NULL));
    PQclear(PQprepare(connection, "rows", "SELECT key, grp, score, stamp FROM proof WHERE score >= 500 ORDER BY score DESC", 0, NULL));
    pthread_t writer, shower;
    handed = eventfd(0, 0), sem_init(&taken, 0, 1);
    pthread_create(&writer, NULL, write_rows, NULL);
    pthread_create(&shower, NULL, show, NULL);
    while (1) {
        struct pollfd place = {.fd = PQsocket(connection), .events = POLLIN};
        PGnotify *one;
        int heard = 0;
        PQconsumeInput(connection);
        while ((one = PQnotifies(connection))) PQfreemem(one), heard = 1;
        if (!heard && poll(&place, 1, 2000) == 0) break;
        if (!heard) continue;
        PGresult *result = read_rows(connection);
        struct row read[ROWS];
        int count = PQntuples(result);
        for (int row = 0; row < count; row++)
            read[row] = (struct row){number(result, row, 0), number(result, row, 1), number(result, row, 2), number(result, row, 3)};
        PQclear(result);
        sem_wait(&taken);
        int is_other = count != row_count || memcmp(read, rows, count * sizeof *rows) != 0;
        if (is_other) memcpy(rows, read, count * sizeof *rows), row_count = count;
        if (is_other) hand_over(); else sem_post(&taken);
    }
    is_over = 1, hand_over();
    pthread_join(shower, NULL), pthread_join(writer, NULL);
    qsort(taken_us, samples, sizeof *taken_us, compare);
    printf("%.0f %.3f\n", taken_us[samples / 2], (double)samples / readings);
    return PQfinish(connection), 0;
}
