#define _GNU_SOURCE
#include "CStillingWellPlatform.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

uint32_t cp_trace_mode_word = 0;

void cp_set_trace_mode(uint32_t mode) { __atomic_store_n(&cp_trace_mode_word, mode, __ATOMIC_SEQ_CST); }

static _Thread_local void *slots[CP_TRACE_SLOTS];
static pthread_key_t release_key;
static int has_release;
static void (*release_slot)(void *);

void *cp_trace_slot(int slot) { return slots[slot]; }

void cp_set_trace_slot(int slot, void *value) {
    slots[slot] = value;
    if (slot == 0 && has_release) pthread_setspecific(release_key, value);
}

// Later destructors may use the slot. They make a new value, which the next round releases.
static void end_slot(void *value) {
    slots[0] = NULL;
    release_slot(value);
}

void cp_on_trace_release(void (*release)(void *)) {
    if (has_release) return;
    release_slot = release;
    has_release = pthread_key_create(&release_key, end_slot) == 0;
}

long cp_futex_call(void) { return SYS_futex; }

long cp_read_memory(int32_t pid, uint64_t address, void *into, unsigned long bytes) {
    struct iovec local = {.iov_base = into, .iov_len = bytes};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = bytes};
    return (long)process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

// State of the current call, read by the handler. One call at a time.
static void (*wanted_call)(void *);
static void *wanted_with;
static int32_t wanted_tid;
static int is_answered;

static void answer(int number) {
    (void)number;
    int saved = errno;
    if (__atomic_load_n(&wanted_tid, __ATOMIC_ACQUIRE) == cp_thread_id()) {
        wanted_call(wanted_with);
        __atomic_store_n(&wanted_tid, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&is_answered, 1, __ATOMIC_RELEASE);
    }
    errno = saved;
}

bool cp_interrupt(int32_t tid, void (*call)(void *), void *with, int64_t timeout_ns) {
    static int is_ready = 0;
    if (!is_ready) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = answer;
        action.sa_flags = SA_RESTART;
        // Workers of libdispatch block most signals, but not SIGPROF.
        if (sigaction(SIGPROF, &action, NULL) != 0) return false;
        is_ready = 1;
    }
    wanted_call = call;
    wanted_with = with;
    __atomic_store_n(&is_answered, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&wanted_tid, tid, __ATOMIC_RELEASE);
    if (syscall(SYS_tgkill, getpid(), tid, SIGPROF) != 0) return false;
    for (int64_t waited = 0; waited < timeout_ns; waited += 100000) {
        if (__atomic_load_n(&is_answered, __ATOMIC_ACQUIRE)) return true;
        // The thread has ended.
        if (waited % 100000000 == 0 && syscall(SYS_tgkill, getpid(), tid, 0) != 0) break;
        struct timespec pause = {.tv_sec = 0, .tv_nsec = 100000};
        nanosleep(&pause, NULL);
    }
    __atomic_store_n(&wanted_tid, 0, __ATOMIC_RELEASE);
    return false;
}

// Static, because a thread that answers after the timeout still writes here.
static void *captured_frames[256];
static int captured_most;
static int captured_count;

static void capture(void *with) {
    (void)with;
    captured_count = backtrace(captured_frames, captured_most);
}

int cp_capture_stack(int32_t tid, void **frames, int most, int64_t timeout_ns) {
    static int is_loaded = 0;
    if (!is_loaded) {
        // The first call loads a library, which is not allowed in a signal handler.
        void *warm[4];
        backtrace(warm, 4);
        is_loaded = 1;
    }
    captured_most = most < 256 ? most : 256;
    if (!cp_interrupt(tid, capture, NULL, timeout_ns)) return 0;
    memcpy(frames, captured_frames, sizeof(void *) * (size_t)captured_count);
    return captured_count;
}

const char *cp_symbol(const void *address, const char **file, uint64_t *offset) {
    Dl_info info;
    *file = NULL;
    *offset = 0;
    if (!dladdr(address, &info)) return NULL;
    *file = info.dli_fname;
    *offset = (uint64_t)((const char *)address - (const char *)info.dli_fbase);
    return info.dli_sname;
}
