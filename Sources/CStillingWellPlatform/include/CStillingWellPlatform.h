// C functions for Swift: variadic system calls, futexes, robust process-shared mutexes, atomics on mapped memory,
// signal handlers, and others.
#ifndef CPLATFORM_H
#define CPLATFORM_H

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

// Atomics on memory that several processes map. Sequentially consistent.
uint32_t cp_load32(const uint32_t *address);
void cp_store32(uint32_t *address, uint32_t value);
uint32_t cp_add32(uint32_t *address, uint32_t delta);
/// Subtracts 1, unless the value is 0.
void cp_subtract_if_positive32(uint32_t *address);
uint64_t cp_load64(const uint64_t *address);
void cp_store64(uint64_t *address, uint64_t value);
bool cp_exchange_if_equal64(uint64_t *address, uint64_t expected, uint64_t desired);

/// Rings a bell. The word counts rings in steps of 2; bit 0 is set if a thread may sleep on it. Adds a ring and clears
/// the bit. Returns whether it was set.
bool cp_ring_bell32(uint32_t *address);
/// Sets bit 0 and returns the whole value, to sleep on.
uint32_t cp_mark_sleeper32(uint32_t *address);

/// Sleeps while `*address == seen`, at most `timeout_ns` (negative: no limit). Returns 0 when woken or if the value
/// already differs, otherwise ETIMEDOUT, EINTR or another errno. Works between processes that map the same memory.
int cp_futex_wait(const uint32_t *address, uint32_t seen, int64_t timeout_ns);
/// Same as `cp_futex_wait`, with wake-up bits. `cp_futex_wake_some` wakes the thread only if it names one of them.
int cp_futex_wait_as(const uint32_t *address, uint32_t seen, int64_t timeout_ns, uint32_t bits);
/// Wakes sleepers that have one of `bits`, or that sleep by `cp_futex_wait`.
void cp_futex_wake_some(const uint32_t *address, uint32_t bits);
/// Wakes every sleeper on `address`; returns how many there were.
int cp_futex_wake_all(const uint32_t *address);

/// A robust, process-shared, error-checking mutex in mapped memory. Returns 0 or an errno.
int cp_robust_mutex_init(pthread_mutex_t *mutex);
/// Locks. Sets `*owner_died` if the previous owner was killed while holding the mutex, which is then made consistent. A
/// negative `timeout_ns` waits without limit. Returns 0, ETIMEDOUT, EDEADLK or another errno.
int cp_robust_mutex_lock(pthread_mutex_t *mutex, int64_t timeout_ns, bool *owner_died);
int cp_robust_mutex_unlock(pthread_mutex_t *mutex);
/// Returns whether the calling thread holds a robust mutex.
bool cp_mutex_is_mine(const pthread_mutex_t *mutex);
/// Returns whether the mutex has no owner, or its owner was killed.
bool cp_mutex_is_free(const pthread_mutex_t *mutex);
/// Returns the kernel thread id of the owner of a locked glibc mutex, 0 if free. Racy; for diagnosis only.
int32_t cp_mutex_owner(const pthread_mutex_t *mutex);

/// Returns the bytes allocated and not freed: by the sanitizer's allocator if one is linked, otherwise by glibc's.
uint64_t cp_heap_bytes(void);

/// Mode of lock tracing (`Tracing.Mode`); 0 is off. Reading it is one relaxed load.
extern uint32_t cp_trace_mode_word;
static inline uint32_t cp_trace_mode(void) { return __atomic_load_n(&cp_trace_mode_word, __ATOMIC_RELAXED); }
void cp_set_trace_mode(uint32_t mode);
/// Thread-local pointers, NULL at first. `release`, set once, is called with the pointer of slot 0 when its thread
/// ends, if the pointer was set after `release` and is not NULL.
#define CP_TRACE_SLOTS 2
void *cp_trace_slot(int slot);
void cp_set_trace_slot(int slot, void *value);
void cp_on_trace_release(void (*release)(void *));

/// Returns the number of the system call `futex`, as /proc shows it.
long cp_futex_call(void);
/// Copies memory of a process, this one included, without raising faults. Returns the bytes copied, or -1.
long cp_read_memory(int32_t pid, uint64_t address, void *into, unsigned long bytes);
/// Makes thread `tid` of this process run `call(with)` in a signal handler. Returns false if the thread has ended, has
/// not run it within `timeout_ns`, or no handler can be installed. One caller at a time. An interrupted system call
/// restarts if SA_RESTART applies to it.
bool cp_interrupt(int32_t tid, void (*call)(void *), void *with, int64_t timeout_ns);
/// Stores return addresses of thread `tid` of this process, innermost first, at most `most` and at most 256. Returns
/// their number; 0 if the thread does not answer within `timeout_ns`. Uses `cp_interrupt`.
int cp_capture_stack(int32_t tid, void **frames, int most, int64_t timeout_ns);
/// Returns the name of the symbol that contains an address, or NULL. Stores the file that is loaded there, and the
/// address's offset from the file's load address.
const char *cp_symbol(const void *address, const char **file, uint64_t *offset);

/// Returns the CRC-32C of two words, as they are in memory (little endian), and bytes. Not inverted at the end.
uint32_t cp_crc32c_entry(uint64_t first, uint64_t second, const void *bytes, unsigned long count);
/// Adds a word to the checksum `sum`.
uint32_t cp_crc32c_word(uint32_t sum, uint64_t word);
/// Adds bytes to the checksum `sum` without the processor's instruction. The initial `sum` is ~0.
uint32_t cp_crc32c_by_table(uint32_t sum, const void *bytes, unsigned long count);

/// Returns whether `path` is on tmpfs or ramfs.
bool cp_is_memory_file_system(const char *path);

/// Returns the number of forks between the start of the program and this process. A changed number means that the
/// caller is in a forked child.
uint32_t cp_fork_generation(void);

/// A file that is expected at a path.
typedef struct {
    uint64_t device, inode;
    const char *path;
} cp_file_at;

/// Calls `lstat` for a name in a folder. Returns 0 or an error number.
int cp_look_in(const char *folder, const char *name, struct stat *status);

/// Stores the identity of a file in a folder: of the open `descriptor`, or, if that is negative, of the file found
/// there. Allocates the path. Returns 0 or an error number.
int cp_note_file(cp_file_at *file, const char *folder, const char *name, int descriptor);

/// Returns whether each path leads to its file. False also if the system cannot tell.
bool cp_are_files_at(const cp_file_at *files, size_t count);

/// Makes a close-on-exec pipe. `ends[0]` is the reading end. Returns 0, or -1 with `errno`.
int cp_pipe(int ends[2]);

/// Accepts a connection with close-on-exec. Returns its descriptor, or -1 with `errno`.
int cp_accept(int listening);

/// Makes reads of pages behind the end of a mapped file return zeros instead of raising SIGBUS. Nobody may write
/// through the map. Returns a slot for `cp_unguard_map`, which must be called before unmapping; negative if there are
/// too many maps. The first call installs a handler of SIGBUS, which passes on signals that concern no such map.
///
/// `first` is the slot of another map of the same file, which then records the truncation. Negative for none.
int32_t cp_guard_map(const void *begin, uint64_t bytes, int32_t first);
void cp_unguard_map(int32_t place);

/// Sets a function that the handler calls before such a page becomes zeros. The function may leave by a jump; the page
/// then stays missing, and nothing is recorded. For all maps; call once.
void cp_on_missing_page(void (*missing)(void));

/// Installs a handler for faults of this process. It runs on the alternate stack if the earlier handler did, or if none
/// was set. Stores the earlier handler in `*earlier`.
void cp_install_fault_handler(
    int number, void (*handle)(int number, siginfo_t *information, void *context), struct sigaction *earlier);
/// Returns whether a signal comes from a fault of this thread, and was not sent.
static inline bool cp_is_fault(const siginfo_t *information) { return information->si_code > 0; }
/// Handles a signal as if the calling handler were not installed: calls the earlier handler with its own flags and
/// mask, lets the system do its default, or ignores a sent signal. The calling handler stays installed, except for the
/// default.
void cp_pass_signal(int number, siginfo_t *information, void *context, struct sigaction *earlier);

/// Makes the kernel copy a page of a private map of a file. The content stays the same for readers.
void cp_copy_private_page(void *page);
/// Returns whether a page of this map, or of a map whose `first` it is, was replaced by zeros, or `cp_note_cut` was
/// called for one of them. False for a map that has another one as its `first`.
bool cp_map_is_cut(int32_t place);
void cp_note_cut(int32_t place);
/// Makes a child to be spawned start in `folder`, unless that is NULL, with only the first three descriptors open.
int cp_isolate_spawn(posix_spawn_file_actions_t *actions, const char *folder);
/// Returns a descriptor that is readable when the child `pid` has ended, or -1 with `errno`.
int cp_pidfd(int32_t pid);
/// Same as `write`, without SIGPIPE if the reader is gone: returns -1 with `errno` EPIPE.
long cp_write_unsignalled(int descriptor, const void *bytes, unsigned long count);

/// Makes orphans among the descendants of this process its children, which it can then reap.
void cp_adopt_orphans(void);
/// Returns the CPU time of process `pid` in ns, ended threads included, or -1 if there is no such process.
int64_t cp_process_cpu_ns(int32_t pid);

/// Makes the kernel kill this process when the thread that started it ends.
void cp_die_with_parent(void);

/// An action that runs on the thread that added it, when that thread ends. The memory is the caller's, and stays valid
/// until the action runs or is removed.
struct cp_thread_end {
    struct cp_thread_end *next;
    /// Address of the pointer to this entry. NULL while it is in no list.
    struct cp_thread_end **link;
    void (*ended)(void *context);
    void *context;
};
/// Adds an action of the calling thread. The last one added runs first. It runs as a destructor of thread-specific
/// data: after the destructors of `thread_local` variables, before the kernel marks robust mutexes of the thread as
/// abandoned. An action that a destructor adds runs too, in the same or the next of the system's
/// `PTHREAD_DESTRUCTOR_ITERATIONS` rounds, but not after the last one. A forked child inherits none.
void cp_add_thread_end(struct cp_thread_end *action);
/// Removes an action, if it has not run yet. On the thread that added it.
void cp_remove_thread_end(struct cp_thread_end *action);
/// Returns the context of the calling thread's last added action that calls `ended`, or NULL if there is none.
void *cp_thread_end_context(void (*ended)(void *context));

/// Kernel id of the calling thread.
int32_t cp_thread_id(void);
/// Returns a number of the calling thread that no other thread of this process ever has. Assigned at the first call.
uint64_t cp_thread_number(void);
/// Names the calling thread; the kernel keeps the first 15 bytes.
void cp_set_thread_name(const char *name);
/// Stores the calling thread's name: at most 15 bytes and a terminating zero.
void cp_get_thread_name(char name[16]);
/// Returns the CPU time of thread `tid` of this process in ns, or -1 if there is no such thread.
int64_t cp_thread_cpu_ns(int32_t tid);
/// Sets how late the kernel may end timed sleeps of the calling thread to wake it with others (default: 50 µs).
void cp_set_timer_slack_ns(uint64_t ns);
/// Pins the calling thread, and threads it starts, to one of its allowed cores: number `index` modulo their count.
/// Returns 0 or an errno.
int cp_pin_to_core(int index);

/// Opens a counter of user-space instructions of a thread, starting at 0 (`tid` 0: the calling thread). Returns a
/// descriptor, or -errno if the processor's counters are not available.
int cp_open_instruction_counter(int32_t tid);
/// Returns the count, or -1.
int64_t cp_read_instruction_counter(int descriptor);
/// Returns whether the process runs under valgrind, with any tool. False if built without valgrind's headers.
bool cp_is_under_callgrind(void);
/// Starts callgrind's counting from 0.
void cp_callgrind_begin(void);
/// Makes callgrind write the counts of another thread since its last dump to a file of their own, and restart from 0.
/// The thread itself must make the request, so it is interrupted. Returns false if it does not answer.
bool cp_callgrind_dump(int32_t tid, const char *label, int64_t timeout_ns);
void cp_callgrind_end(void);
/// Calls `tidegauge_role_0` … in a thread of this process (`tid` 0: the calling one), to identify the thread in its
/// profile. Returns false if the role does not exist or the thread does not answer.
bool cp_mark_role(int32_t tid, int role, int64_t timeout_ns);
#define CP_ROLES 4

/// Returns the CPU time in ns of all other threads of this process that have not ended. Returns -1 if one of them does
/// not sleep, or /proc cannot be read.
int64_t cp_others_asleep_ns(void);
/// Pins the calling thread, and threads it starts, to one core, where none of them preempts another when it wakes.
/// Returns 0 or an errno.
int cp_take_turns_on_core(int index);

/// Returns the label of the dispatch queue that the caller runs on: of the main queue on the main thread, of a root
/// queue on other threads that libdispatch has not started. NULL in a program without libdispatch.
const char *cp_current_queue_label(void);

#endif
