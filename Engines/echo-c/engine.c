// Echo in C: keeps no rows and answers at once. A run on it shows the cost of an engine in a process of its own for
// native code. It relies on requests without blanks, as Tidegauge sends them. `engine N` delivers lists of N indices,
// but no lists in the initial delivery.
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/// Writes a line, by one call if the pipe has room for it.
static void send_line(const char *line, size_t length) {
    while (length > 0) {
        ssize_t written = write(1, line, length);
        if (written < 0) exit(0);
        line += written;
        length -= (size_t)written;
    }
}

/// Returns the number after the first occurrence of `name`, such as `"id":`, or -1 without one.
static int64_t number(const char *request, const char *name) {
    const char *found = strstr(request, name);
    return found ? strtoll(found + strlen(name), NULL, 10) : -1;
}

static int64_t *subs;
static size_t sub_count;
/// `,"modifications":[0,1,…]`
static char *indices;
static size_t indices_length;
static int64_t version = 1;

static void deliver(int64_t sub, bool initial) {
    static char *line;
    if (!line) line = malloc(indices_length + 256);
    int64_t at = now_ns();
    size_t length = (size_t)sprintf(
        line, "{\"event\":\"delivery\",\"sub\":%" PRId64 ",\"at\":%" PRId64 ",\"version\":%" PRId64
        ",\"initial\":%s,\"count\":0", sub, at, version, initial ? "true" : "false");
    if (!initial) {
        memcpy(line + length, indices, indices_length);
        length += indices_length;
    }
    memcpy(line + length, "}\n", 2);
    send_line(line, length + 2);
}

int main(int count, char **arguments) {
    int64_t most = count > 1 ? strtoll(arguments[1], NULL, 10) : 0;
    indices = malloc((size_t)most * 8 + 64);
    indices_length = (size_t)sprintf(indices, ",\"modifications\":[");
    for (int64_t index = 0; index < most; index++) {
        indices_length += (size_t)sprintf(indices + indices_length, index ? ",%" PRId64 : "%" PRId64, index);
    }
    indices[indices_length++] = ']';

    char *request = NULL, reply[512];
    size_t room = 0;
    while (getline(&request, &room, stdin) > 0) {
        int64_t begun = now_ns(), id = number(request, "\"id\":"), sub = number(request, "\"sub\":");
        const char *op = strstr(request, "\"op\":\"");
        op = op ? op + 6 : "";
        int length;
        if (strncmp(op, "commit\"", 7) == 0) {
            version++;
            length = sprintf(
                reply, "{\"re\":%" PRId64 ",\"version\":%" PRId64 ",\"begun\":%" PRId64 ",\"done\":%" PRId64 "}\n", id,
                version, begun, now_ns());
            send_line(reply, (size_t)length);
            for (size_t index = 0; index < sub_count; index++) deliver(subs[index], false);
            continue;
        }
        if (strncmp(op, "hello\"", 6) == 0) {
            length = sprintf(
                reply, "{\"re\":%" PRId64 ",\"name\":\"echo-c\",\"engineVersion\":\"1\",\"runtime\":\"C\",\"facts\":{"
                "\"durabilities\":[\"memory\",\"relaxed\",\"full\"],\"contents\":false,\"shows\":\"none\"}}\n", id);
        } else {
            length = sprintf(reply, "{\"re\":%" PRId64 "}\n", id);
        }
        if (strncmp(op, "cancel\"", 7) == 0) {
            for (size_t index = 0; index < sub_count; index++) {
                if (subs[index] == sub) subs[index--] = subs[--sub_count];
            }
        }
        send_line(reply, (size_t)length);
        if (strncmp(op, "subscribe\"", 10) == 0) {
            subs = realloc(subs, (sub_count + 1) * sizeof *subs);
            subs[sub_count++] = sub;
            deliver(sub, true);
        }
        if (strncmp(op, "close\"", 6) == 0) return 0;
    }
    return 0;
}
