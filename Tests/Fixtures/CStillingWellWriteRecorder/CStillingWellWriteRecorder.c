// Replacements of functions of the C library that open, close, change, rename, remove or flush files. They record what
// they have done to files of the folder. The journal is in memory shared with forked children. Its mutex is held during
// a write, so that the journal has the order of the writes. It is not held during a flush, so that other threads can
// write meanwhile.
#define _GNU_SOURCE
#include "CStillingWellWriteRecorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_FILES 4096
#define MOST_DESCRIPTORS 4096

struct journal {
    pthread_mutex_t mutex;
    bool is_on, is_full;
    int failing;
    bool are_stalled, is_stalled;
    char folder[PATH_MAX];
    uint64_t capacity, used, steps;
    uint32_t files;
    ino_t inodes[MOST_FILES];
    char bytes[];
};

static struct journal *journal;
/// Further steps after which this process ends. 0: no limit.
static uint64_t steps_left;
/// The kind and offset of this process's last step, and the number of such steps until then. A count of 0: no limit.
static struct { uint32_t kind; uint64_t offset, count; } last;
/// Number of steps that must be recorded after a flush of this process has begun and before it is made.
static uint64_t steps_beside_flush;

struct descriptor {
    uint32_t file;
    bool is_known, is_synced;
};
static struct descriptor descriptors[MOST_DESCRIPTORS];

bool wr_reserve(uint64_t bytes) {
    struct journal *made =
        mmap(NULL, sizeof *made + bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return false;
    made->capacity = bytes;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&made->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    journal = made;
    return true;
}

void wr_begin(const char *folder) {
    snprintf(journal->folder, sizeof journal->folder, "%s", folder);
    journal->used = 0;
    journal->files = 1;
    journal->is_full = false;
    __atomic_store_n(&journal->is_on, true, __ATOMIC_SEQ_CST);
}

void wr_end(void) { __atomic_store_n(&journal->is_on, false, __ATOMIC_SEQ_CST); }

const void *wr_journal(uint64_t *bytes) {
    *bytes = journal->used;
    return journal->is_full ? NULL : journal->bytes;
}

void wr_fail_flushes(int error) { __atomic_store_n(&journal->failing, error, __ATOMIC_SEQ_CST); }
void wr_stall_flushes(bool are_stalled) { __atomic_store_n(&journal->are_stalled, are_stalled, __ATOMIC_SEQ_CST); }
bool wr_is_stalled(void) { return __atomic_load_n(&journal->is_stalled, __ATOMIC_SEQ_CST); }

static bool is_on(void) { return journal && __atomic_load_n(&journal->is_on, __ATOMIC_SEQ_CST); }

static void take(void) {
    if (pthread_mutex_lock(&journal->mutex) == EOWNERDEAD) pthread_mutex_consistent(&journal->mutex);
}

static void give(void) {
    // Exits with the mutex held, so that no other thread writes any more.
    if (steps_left > 0 && --steps_left == 0) _exit(0);
    pthread_mutex_unlock(&journal->mutex);
}

void wr_end_process_after(uint64_t steps) { steps_left = steps; }
void wr_end_process_at(uint32_t kind, uint64_t offset, uint64_t count) {
    last.kind = kind;
    last.offset = offset;
    last.count = count;
}

void wr_leave(void) {
    if (is_on()) take();
}

static uint64_t steps(void) { return __atomic_load_n(&journal->steps, __ATOMIC_SEQ_CST); }

// The caller must hold the mutex.
static char *append(uint32_t kind, uint32_t file, uint64_t offset, uint64_t payload_bytes) {
    bool is_place = last.offset == WR_ANYWHERE || offset == last.offset;
    if (last.count > 0 && kind == last.kind && is_place && --last.count == 0) steps_left = 1;
    __atomic_add_fetch(&journal->steps, 1, __ATOMIC_SEQ_CST);
    uint64_t bytes = sizeof(wr_step) + ((payload_bytes + 7) & ~7ull);
    if (journal->used + bytes > journal->capacity) {
        journal->is_full = true;
        return NULL;
    }
    wr_step step = {kind, file, offset, payload_bytes};
    char *place = journal->bytes + journal->used;
    memcpy(place, &step, sizeof step);
    journal->used += bytes;
    return place + sizeof step;
}

static void append_text(uint32_t kind, uint32_t file, const char *text, uint64_t bytes) {
    char *place = append(kind, file, 0, bytes);
    if (place) memcpy(place, text, bytes);
}

void wr_note(const char *text) {
    if (!is_on()) return;
    take();
    append_text(WR_NOTE, 0, text, strlen(text));
    give();
}

void wr_write_beside_flushes(uint64_t steps) { steps_beside_flush = steps; }

/// Returns the name of a file in the folder, "" for the folder itself, or NULL for other paths. A relative path without
/// a slash counts as a name in the folder.
static const char *name_of(const char *path) {
    size_t length = strlen(journal->folder);
    if (path[0] != '/') return strchr(path, '/') ? NULL : path;
    if (strncmp(path, journal->folder, length) != 0) return NULL;
    if (path[length] == 0) return "";
    if (path[length] != '/' || strchr(path + length + 1, '/')) return NULL;
    return path + length + 1;
}

static bool is_descriptor(int file) { return file >= 0 && file < MOST_DESCRIPTORS; }

static void forget(int file) {
    if (is_descriptor(file)) descriptors[file] = (struct descriptor){0};
}

static void opened(int file, const char *path, int flags, bool is_new) {
    const char *name = name_of(path);
    struct stat status;
    if (!name || !is_descriptor(file) || fstat(file, &status) != 0) return;
    if (S_ISDIR(status.st_mode)) {
        descriptors[file] = (struct descriptor){.file = 0, .is_known = name[0] == 0};
        return;
    }
    take();
    uint32_t number = journal->files - 1;
    while (number > 0 && journal->inodes[number] != status.st_ino) number--;
    if (is_new || number == 0) {
        // The inode of a deleted file may be used again.
        if (number != 0) journal->inodes[number] = 0;
        number = journal->files < MOST_FILES ? journal->files++ : MOST_FILES - 1;
        journal->inodes[number] = status.st_ino;
        append_text(WR_LINK, number, name, strlen(name));
    }
    if (flags & O_TRUNC) append(WR_TRUNCATE, number, 0, 0);
    give();
    descriptors[file] =
        (struct descriptor){.file = number, .is_known = true, .is_synced = (flags & (O_DSYNC | O_SYNC)) != 0};
}

static int open_at(int folder, const char *path, int flags, mode_t mode) {
    if (!is_on() || !name_of(path)) return (int)syscall(SYS_openat, folder, path, flags, mode);
    bool was_there = syscall(SYS_faccessat, folder, path, F_OK, 0) == 0;
    int file = (int)syscall(SYS_openat, folder, path, flags, mode);
    int error = errno;
    forget(file);
    opened(file, path, flags, !was_there);
    errno = error;
    return file;
}

// ThreadSanitizer replaces these functions itself.
#if !__has_feature(thread_sanitizer)
#define MODE(flags, mode)                    \
    mode_t mode = 0;                         \
    if ((flags) & (O_CREAT | O_TMPFILE)) {   \
        va_list list;                        \
        va_start(list, flags);               \
        mode = (mode_t)va_arg(list, int);    \
        va_end(list);                        \
    }

int open(const char *path, int flags, ...) {
    MODE(flags, mode)
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    MODE(flags, mode)
    return open_at(folder, path, flags, mode);
}

int close(int file) {
    forget(file);
    return (int)syscall(SYS_close, file);
}

/// Returns the entry of a descriptor of the folder or of a file in it. Returns NULL for other descriptors, for those
/// that were opened before the journal began, and if it is off.
static const struct descriptor *known(int file) {
    if (!is_on() || !is_descriptor(file) || !descriptors[file].is_known) return NULL;
    return &descriptors[file];
}

static void wrote(const struct descriptor *known, uint64_t offset, const struct iovec *parts, int count, ssize_t written) {
    if (written <= 0) return;
    char *place = append(known->is_synced ? WR_WRITE_SYNCED : WR_WRITE, known->file, offset, (uint64_t)written);
    for (int part = 0; place && part < count && written > 0; part++) {
        size_t bytes = parts[part].iov_len < (size_t)written ? parts[part].iov_len : (size_t)written;
        memcpy(place, parts[part].iov_base, bytes);
        place += bytes;
        written -= (ssize_t)bytes;
    }
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    const struct descriptor *target = known(file);
    if (!target) return syscall(SYS_pwrite64, file, bytes, count, offset);
    take();
    ssize_t written = syscall(SYS_pwrite64, file, bytes, count, offset);
    int error = errno;
    struct iovec part = {(void *)bytes, count};
    wrote(target, (uint64_t)offset, &part, 1, written);
    give();
    errno = error;
    return written;
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    const struct descriptor *target = known(file);
    if (!target) return syscall(SYS_writev, file, parts, count);
    take();
    off_t offset = syscall(SYS_lseek, file, 0, SEEK_CUR);
    ssize_t written = syscall(SYS_writev, file, parts, count);
    int error = errno;
    wrote(target, (uint64_t)offset, parts, count, written);
    give();
    errno = error;
    return written;
}

ssize_t write(int file, const void *bytes, size_t count) {
    if (!known(file)) return syscall(SYS_write, file, bytes, count);
    struct iovec part = {(void *)bytes, count};
    return writev(file, &part, 1);
}

int ftruncate(int file, off_t length) {
    const struct descriptor *target = known(file);
    if (!target) return (int)syscall(SYS_ftruncate, file, length);
    take();
    int result = (int)syscall(SYS_ftruncate, file, length);
    int error = errno;
    if (result == 0) append(WR_TRUNCATE, target->file, (uint64_t)length, 0);
    give();
    errno = error;
    return result;
}

static int flush(int file, long call) {
    const struct descriptor *target = known(file);
    if (!target) return (int)syscall(call, file);
    int failing = __atomic_load_n(&journal->failing, __ATOMIC_SEQ_CST);
    if (failing != 0) {
        errno = failing;
        return -1;
    }
    if (__atomic_load_n(&journal->are_stalled, __ATOMIC_SEQ_CST)) {
        __atomic_store_n(&journal->is_stalled, true, __ATOMIC_SEQ_CST);
        while (true) pause();
    }
    take();
    uint64_t number = journal->used;
    append(WR_FLUSH_BEGIN, target->file, number, 0);
    uint64_t until = steps() + steps_beside_flush;
    give();
    while (steps() < until) usleep(100);
    int result = (int)syscall(call, file);
    int error = errno;
    if (result == 0) {
        take();
        // The number identifies the flush that has ended, because several flushes of a file may run at the same time.
        append(WR_FLUSH_END, target->file, number, 0);
        give();
    }
    errno = error;
    return result;
}

int fdatasync(int file) { return flush(file, SYS_fdatasync); }
int fsync(int file) { return flush(file, SYS_fsync); }

int rename(const char *from, const char *to) {
    const char *old = is_on() ? name_of(from) : NULL, *new = is_on() ? name_of(to) : NULL;
    // A file that is moved into the folder is recorded when it is opened here.
    if (!old || !new) return (int)syscall(SYS_rename, from, to);
    take();
    int result = (int)syscall(SYS_rename, from, to);
    int error = errno;
    if (result == 0) {
        size_t old_bytes = strlen(old) + 1, new_bytes = strlen(new);
        char *place = append(WR_RENAME, 0, 0, old_bytes + new_bytes);
        if (place) {
            memcpy(place, old, old_bytes);
            memcpy(place + old_bytes, new, new_bytes);
        }
    }
    give();
    errno = error;
    return result;
}

int unlink(const char *path) {
    const char *name = is_on() ? name_of(path) : NULL;
    if (!name) return (int)syscall(SYS_unlink, path);
    take();
    int result = (int)syscall(SYS_unlink, path);
    int error = errno;
    if (result == 0) append_text(WR_UNLINK, 0, name, strlen(name));
    give();
    errno = error;
    return result;
}
#endif
