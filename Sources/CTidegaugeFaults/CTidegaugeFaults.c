#define _GNU_SOURCE
#include "CTidegaugeFaults.h"

#include <dlfcn.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t flush_delay_ns;
static int64_t step_ns;
static uint64_t flushes;

void cf_set_flush_delay_ns(int64_t ns) { __atomic_store_n(&flush_delay_ns, ns, __ATOMIC_RELAXED); }
uint64_t cf_flush_count(void) { return __atomic_load_n(&flushes, __ATOMIC_RELAXED); }
void cf_step_wall_clock_ns(int64_t ns) { __atomic_store_n(&step_ns, ns, __ATOMIC_RELAXED); }

// A sanitizer has its own replacements of these functions.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED
bool cf_is_in_place(void) { return false; }
#else
bool cf_is_in_place(void) { return true; }

static void delay(void) {
    __atomic_add_fetch(&flushes, 1, __ATOMIC_RELAXED);
    int64_t ns = __atomic_load_n(&flush_delay_ns, __ATOMIC_RELAXED);
    if (ns <= 0) return;
    struct timespec length = {ns / 1000000000, ns % 1000000000};
    nanosleep(&length, NULL);
}

int fdatasync(int file) {
    delay();
    return (int)syscall(SYS_fdatasync, file);
}

int fsync(int file) {
    delay();
    return (int)syscall(SYS_fsync, file);
}

int msync(void *start, size_t length, int flags) {
    if (flags & MS_SYNC) delay();
    return (int)syscall(SYS_msync, start, length, flags);
}

typedef int clock_function(clockid_t, struct timespec *);
static clock_function *real_clock;

__attribute__((constructor)) static void find_clock(void) {
    real_clock = (clock_function *)dlsym(RTLD_NEXT, "clock_gettime");
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    clock_function *real = real_clock;
    // Not set yet if another constructor of the loader calls it earlier.
    if (!real) return (int)syscall(SYS_clock_gettime, clock, time);
    if (__builtin_expect(clock != CLOCK_REALTIME, 1)) return real(clock, time);
    int result = real(clock, time);
    if (result != 0) return result;
    int64_t step = __atomic_load_n(&step_ns, __ATOMIC_RELAXED);
    time->tv_sec += step / 1000000000;
    return result;
}

#endif
