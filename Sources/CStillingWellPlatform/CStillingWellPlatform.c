#define _GNU_SOURCE
#include "CStillingWellPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static _Thread_local struct cp_thread_end *thread_ends;
static _Thread_local bool has_thread_end_key;
static pthread_key_t thread_end_key;

static uint32_t forks;
static void begin_child(void) {
    __atomic_add_fetch(&forks, 1, __ATOMIC_RELAXED);
    while (thread_ends) cp_remove_thread_end(thread_ends);
}
__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, begin_child); }
uint32_t cp_fork_generation(void) { return __atomic_load_n(&forks, __ATOMIC_RELAXED); }

static void end_thread(void *unused) {
    (void)unused;
    // Reset, because an action added from here on must set the key again for another round.
    has_thread_end_key = false;
    while (thread_ends) {
        struct cp_thread_end *action = thread_ends;
        cp_remove_thread_end(action);
        action->ended(action->context);
    }
}

__attribute__((constructor)) static void watch_thread_ends(void) {
    if (pthread_key_create(&thread_end_key, end_thread) != 0) abort();
}

void cp_add_thread_end(struct cp_thread_end *action) {
    action->next = thread_ends;
    action->link = &thread_ends;
    if (thread_ends) thread_ends->link = &action->next;
    thread_ends = action;
    if (has_thread_end_key) return;
    // Any value except NULL makes the destructor run. If memory is short, the next action tries again.
    has_thread_end_key = pthread_setspecific(thread_end_key, &thread_end_key) == 0;
}

void cp_remove_thread_end(struct cp_thread_end *action) {
    if (!action->link) return;
    *action->link = action->next;
    if (action->next) action->next->link = action->link;
    action->link = NULL;
}

void *cp_thread_end_context(void (*ended)(void *context)) {
    for (struct cp_thread_end *action = thread_ends; action; action = action->next) {
        if (action->ended == ended) return action->context;
    }
    return NULL;
}

void cp_adopt_orphans(void) { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

int64_t cp_process_cpu_ns(int32_t pid) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

void cp_die_with_parent(void) { prctl(PR_SET_PDEATHSIG, 9 /* SIGKILL */, 0, 0, 0); }

int cp_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int cp_accept(int listening) { return accept4(listening, NULL, NULL, SOCK_CLOEXEC); }

int cp_isolate_spawn(posix_spawn_file_actions_t *actions, const char *folder) {
    int error = posix_spawn_file_actions_addclosefrom_np(actions, 3);
    return error != 0 || folder == NULL ? error : posix_spawn_file_actions_addchdir_np(actions, folder);
}

int cp_pidfd(int32_t pid) {
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

long cp_write_unsignalled(int descriptor, const void *bytes, unsigned long count) {
    sigset_t broken, before, pending;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    long written = write(descriptor, bytes, count);
    int error = errno;
    if (written < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE)) {
        struct timespec none = {0, 0};
        while (sigtimedwait(&broken, NULL, &none) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return written;
}

uint32_t cp_load32(const uint32_t *address) { return __atomic_load_n(address, __ATOMIC_SEQ_CST); }
void cp_store32(uint32_t *address, uint32_t value) { __atomic_store_n(address, value, __ATOMIC_SEQ_CST); }
uint32_t cp_add32(uint32_t *address, uint32_t delta) { return __atomic_add_fetch(address, delta, __ATOMIC_SEQ_CST); }
void cp_subtract_if_positive32(uint32_t *address) {
    uint32_t seen = cp_load32(address);
    while (seen != 0 &&
           !__atomic_compare_exchange_n(address, &seen, seen - 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
}

bool cp_ring_bell32(uint32_t *address) {
    uint32_t seen = cp_load32(address);
    while (!__atomic_compare_exchange_n(address, &seen, (seen & ~1u) + 2, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return seen & 1;
}

uint32_t cp_mark_sleeper32(uint32_t *address) { return __atomic_or_fetch(address, 1, __ATOMIC_SEQ_CST); }

uint64_t cp_load64(const uint64_t *address) { return __atomic_load_n(address, __ATOMIC_SEQ_CST); }
void cp_store64(uint64_t *address, uint64_t value) { __atomic_store_n(address, value, __ATOMIC_SEQ_CST); }

bool cp_exchange_if_equal64(uint64_t *address, uint64_t expected, uint64_t desired) {
    return __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static struct timespec timespec_of(int64_t ns) {
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

int cp_futex_wait(const uint32_t *address, uint32_t seen, int64_t timeout_ns) {
    return cp_futex_wait_as(address, seen, timeout_ns, FUTEX_BITSET_MATCH_ANY);
}

int cp_futex_wait_as(const uint32_t *address, uint32_t seen, int64_t timeout_ns, uint32_t bits) {
    // FUTEX_WAIT_BITSET takes an absolute time.
    struct timespec until;
    if (timeout_ns >= 0) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until = timespec_of(until.tv_sec * 1000000000LL + until.tv_nsec + timeout_ns);
    }
    long result = syscall(SYS_futex, address, FUTEX_WAIT_BITSET, seen, timeout_ns < 0 ? NULL : &until, NULL, bits);
    if (result == 0 || errno == EAGAIN) return 0;
    return errno;
}

void cp_futex_wake_some(const uint32_t *address, uint32_t bits) {
    syscall(SYS_futex, address, FUTEX_WAKE_BITSET, INT32_MAX, NULL, NULL, bits);
}

int cp_futex_wake_all(const uint32_t *address) {
    long woken = syscall(SYS_futex, address, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    return woken < 0 ? 0 : (int)woken;
}

int cp_robust_mutex_init(pthread_mutex_t *mutex) {
    pthread_mutexattr_t attributes;
    int error = pthread_mutexattr_init(&attributes);
    if (error) return error;
    error = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    if (!error) error = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    if (!error) error = pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    if (!error) error = pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return error;
}

int cp_robust_mutex_lock(pthread_mutex_t *mutex, int64_t timeout_ns, bool *owner_died) {
    int error;
    *owner_died = false;
    if (timeout_ns < 0) {
        error = pthread_mutex_lock(mutex);
    } else {
        // Tried without a timeout first, which saves the clock read.
        error = pthread_mutex_trylock(mutex);
        if (error == EBUSY) {
            struct timespec now;
            clock_gettime(CLOCK_MONOTONIC, &now);
            struct timespec deadline = timespec_of(now.tv_sec * 1000000000LL + now.tv_nsec + timeout_ns);
            error = pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &deadline);
        }
    }
    if (error == EOWNERDEAD) {
        *owner_died = true;
        error = pthread_mutex_consistent(mutex);
    }
    return error;
}

int cp_robust_mutex_unlock(pthread_mutex_t *mutex) { return pthread_mutex_unlock(mutex); }

bool cp_mutex_is_mine(const pthread_mutex_t *mutex) {
    // Reads the futex word. The owner field is not reset if the owner was killed.
    uint32_t word = __atomic_load_n((const uint32_t *)&mutex->__data.__lock, __ATOMIC_SEQ_CST);
    return (word & FUTEX_TID_MASK) == (uint32_t)cp_thread_id();
}

bool cp_mutex_is_free(const pthread_mutex_t *mutex) {
    uint32_t word = __atomic_load_n((const uint32_t *)&mutex->__data.__lock, __ATOMIC_SEQ_CST);
    return (word & FUTEX_TID_MASK) == 0;
}

int32_t cp_mutex_owner(const pthread_mutex_t *mutex) { return mutex->__data.__owner; }

bool cp_is_memory_file_system(const char *path) {
    struct statfs status;
    return statfs(path, &status) == 0 && (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC);
}

static _Thread_local uint64_t thread_number;
static uint64_t last_thread_number;

uint64_t cp_thread_number(void) {
    if (thread_number == 0) thread_number = __atomic_add_fetch(&last_thread_number, 1, __ATOMIC_RELAXED);
    return thread_number;
}

int32_t cp_thread_id(void) { return (int32_t)syscall(SYS_gettid); }

void cp_set_thread_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
void cp_get_thread_name(char name[16]) { prctl(PR_GET_NAME, name, 0, 0, 0); }

int64_t cp_thread_cpu_ns(int32_t tid) {
    // The kernel's encoding of a thread's CPU clock: inverted id, then "per thread" (4) and "scheduler time" (2).
    clockid_t clock = (clockid_t)((~(unsigned)tid << 3) | 6);
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) return -1;
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int cp_pin_to_core(int index) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return errno;
    int left = index % CPU_COUNT(&allowed);
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, &allowed) || left-- > 0) continue;
        CPU_ZERO(&allowed);
        CPU_SET(core, &allowed);
        return sched_setaffinity(0, sizeof allowed, &allowed) == 0 ? 0 : errno;
    }
    return ESRCH;
}

void cp_set_timer_slack_ns(uint64_t ns) { prctl(PR_SET_TIMERSLACK, ns, 0, 0, 0); }

// Declared here, because the headers of libdispatch require blocks.
extern const char *dispatch_queue_get_label(void *queue) __attribute__((weak));

const char *cp_current_queue_label(void) { return dispatch_queue_get_label ? dispatch_queue_get_label(NULL) : NULL; }

extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

uint64_t cp_heap_bytes(void) {
    if (__sanitizer_get_current_allocated_bytes) return __sanitizer_get_current_allocated_bytes();
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void join_path(char *path, const char *folder, size_t length, const char *name, size_t rest) {
    memcpy(path, folder, length);
    path[length] = '/';
    memcpy(path + length + 1, name, rest + 1);
}

int cp_look_in(const char *folder, const char *name, struct stat *status) {
    char path[PATH_MAX];
    size_t length = strlen(folder), rest = strlen(name);
    if (length + rest + 2 > sizeof path) return ENAMETOOLONG;
    join_path(path, folder, length, name, rest);
    return lstat(path, status) == 0 ? 0 : errno;
}

int cp_note_file(cp_file_at *file, const char *folder, const char *name, int descriptor) {
    size_t length = strlen(folder), rest = strlen(name);
    char *path = malloc(length + rest + 2);
    if (!path) return ENOMEM;
    join_path(path, folder, length, name, rest);
    struct stat found;
    if (descriptor < 0 ? lstat(path, &found) != 0 : fstat(descriptor, &found) != 0) {
        int error = errno;
        free(path);
        return error;
    }
    *file = (cp_file_at){.device = found.st_dev, .inode = found.st_ino, .path = path};
    return 0;
}

bool cp_are_files_at(const cp_file_at *files, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct stat found;
        if (lstat(files[i].path, &found) != 0 || found.st_ino != files[i].inode || found.st_dev != files[i].device)
            return false;
    }
    return true;
}
