// Counts instructions, by the processor's counters or by callgrind. Also detects that all other threads sleep, which
// ends a step of a counted run.
#define _GNU_SOURCE
#include "CStillingWellPlatform.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define HAS_CALLGRIND 1
#endif

int cp_open_instruction_counter(int32_t tid) {
    struct perf_event_attr wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.type = PERF_TYPE_HARDWARE;
    wanted.size = sizeof wanted;
    wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
    wanted.exclude_kernel = 1;
    wanted.exclude_hv = 1;
    long descriptor = syscall(SYS_perf_event_open, &wanted, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return descriptor < 0 ? -errno : (int)descriptor;
}

int64_t cp_read_instruction_counter(int descriptor) {
    int64_t count = 0;
    return read(descriptor, &count, sizeof count) == sizeof count ? count : -1;
}

#ifdef HAS_CALLGRIND
bool cp_is_under_callgrind(void) { return RUNNING_ON_VALGRIND != 0; }
void cp_callgrind_begin(void) {
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
}
void cp_callgrind_end(void) { CALLGRIND_STOP_INSTRUMENTATION; }
static void dump(void *label) { CALLGRIND_DUMP_STATS_AT((const char *)label); }
#else
bool cp_is_under_callgrind(void) { return false; }
void cp_callgrind_begin(void) {}
void cp_callgrind_end(void) {}
static void dump(void *label) { (void)label; }
#endif

bool cp_callgrind_dump(int32_t tid, const char *label, int64_t timeout_ns) {
    return cp_interrupt(tid, dump, (void *)label, timeout_ns);
}

// Empty functions with distinct names. The operand keeps the compiler from merging them.
#define ROLE(number)                                                                                                   \
    __attribute__((noinline, used, visibility("default"))) void tidegauge_role_##number(void) {                        \
        __asm__ volatile("" ::"i"(number));                                                                            \
    }
ROLE(0)
ROLE(1)
ROLE(2)
ROLE(3)

static void mark(void *role) {
    static void (*const marks[CP_ROLES])(void) = {
        tidegauge_role_0, tidegauge_role_1, tidegauge_role_2, tidegauge_role_3};
    marks[(intptr_t)role]();
}

bool cp_mark_role(int32_t tid, int role, int64_t timeout_ns) {
    if (role < 0 || role >= CP_ROLES) return false;
    if (tid != 0 && tid != cp_thread_id()) return cp_interrupt(tid, mark, (void *)(intptr_t)role, timeout_ns);
    mark((void *)(intptr_t)role);
    return true;
}

// Returns the state letter of a thread, or 0 if it cannot be read. It follows the name, which is in parentheses and may
// contain parentheses.
static char state_of(int tasks, const char *tid) {
    char path[32], text[64];
    stpcpy(stpncpy(path, tid, 16), "/stat");
    int file = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    // A name has at most 15 bytes.
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length < 0 ? 0 : length] = 0;
    const char *end = strrchr(text, ')');
    return end == NULL || end[1] == 0 ? 0 : end[2];
}

int64_t cp_others_asleep_ns(void) {
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL) return -1;
    int32_t own = cp_thread_id();
    int64_t sum = 0;
    for (struct dirent *task; sum >= 0 && (task = readdir(tasks)) != NULL;) {
        int32_t tid = atoi(task->d_name);
        if (tid == 0 || tid == own) continue;
        char state = state_of(dirfd(tasks), task->d_name);
        // Threads that have ended are left out.
        if (state == 0 || state == 'X' || state == 'Z') continue;
        int64_t cpu_ns = state == 'S' ? cp_thread_cpu_ns(tid) : -1;
        sum = cpu_ns < 0 ? -1 : sum + cpu_ns;
    }
    closedir(tasks);
    return sum;
}

int cp_take_turns_on_core(int index) {
    int error = cp_pin_to_core(index);
    if (error != 0) return error;
    struct sched_param none = {.sched_priority = 0};
    return sched_setscheduler(0, SCHED_BATCH, &none) == 0 ? 0 : errno;
}
