// What the Swift importer cannot reach: variadic syscalls, futexes, robust process-shared mutexes and atomics on
// mapped memory. Thin by intent; every policy (who waits for what, and how long) lives in Swift.
#ifndef CPLATFORM_H
#define CPLATFORM_H

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

// Atomics on memory that several processes map. Sequentially consistent unless the name says otherwise.
uint32_t cp_load32(const uint32_t *address);
void cp_store32(uint32_t *address, uint32_t value);
uint32_t cp_add32(uint32_t *address, uint32_t delta);
/// Subtracts 1, unless the value is 0.
void cp_subtract_if_positive32(uint32_t *address);
uint64_t cp_load64(const uint64_t *address);
void cp_store64(uint64_t *address, uint64_t value);
bool cp_exchange_if_equal64(uint64_t *address, uint64_t expected, uint64_t desired);

/// A bell: rings are counted in steps of 2, and bit 0 says that somebody may sleep. Counts a ring and clears the bit;
/// returns whether it was set.
bool cp_ring_bell32(uint32_t *address);
/// Sets bit 0 and returns the whole value, to sleep on.
uint32_t cp_mark_sleeper32(uint32_t *address);

/// Sleeps while `*address == seen`, at most `timeout_ns` (negative: for ever). Returns 0 when woken or when the value
/// had changed already, else ETIMEDOUT or EINTR. Works between processes that map the same memory.
int cp_futex_wait(const uint32_t *address, uint32_t seen, int64_t timeout_ns);
/// The same for one that sleeps as `bits`, of which `cp_futex_wake_some` needs one to wake it.
int cp_futex_wait_as(const uint32_t *address, uint32_t seen, int64_t timeout_ns, uint32_t bits);
/// Wakes those that sleep as one of `bits`, or as anything.
void cp_futex_wake_some(const uint32_t *address, uint32_t bits);
/// Wakes every sleeper on `address`; returns how many there were.
int cp_futex_wake_all(const uint32_t *address);

/// A robust, process-shared, error-checking mutex in mapped memory. Returns 0 or an errno.
int cp_robust_mutex_init(pthread_mutex_t *mutex);
/// Locks; `*owner_died` says that the previous owner was killed holding it (the mutex has then been made consistent).
/// `timeout_ns` negative waits for ever. Returns 0, ETIMEDOUT, EDEADLK or another errno.
int cp_robust_mutex_lock(pthread_mutex_t *mutex, int64_t timeout_ns, bool *owner_died);
int cp_robust_mutex_unlock(pthread_mutex_t *mutex);
/// Whether the calling thread holds a robust mutex.
bool cp_mutex_is_mine(const pthread_mutex_t *mutex);
/// Whether nobody holds it, or one who was killed.
bool cp_mutex_is_free(const pthread_mutex_t *mutex);
/// The kernel thread id of the owner of a locked glibc mutex, 0 when free. A racy reading, for diagnosis only.
int32_t cp_mutex_owner(const pthread_mutex_t *mutex);

/// Bytes allocated and not freed: of the sanitizer's allocator where one is linked, else of glibc's.
uint64_t cp_heap_bytes(void);

/// How much of what threads do with locks is looked at: 0 nothing. One relaxed load, wherever it is asked.
extern uint32_t cp_trace_mode_word;
static inline uint32_t cp_trace_mode(void) { return __atomic_load_n(&cp_trace_mode_word, __ATOMIC_RELAXED); }
void cp_set_trace_mode(uint32_t mode);
/// What belongs to the calling thread: a pointer per slot, NULL at first. `release`, set once, is called with that of
/// slot 0 when the thread ends.
#define CP_TRACE_SLOTS 2
void *cp_trace_slot(int slot);
void cp_set_trace_slot(int slot, void *value);
void cp_on_trace_release(void (*release)(void *));

/// The number of the system call `futex`, as /proc shows it.
long cp_futex_call(void);
/// Copies memory of a process, this one included, without any risk of a fault. Returns the bytes copied, or -1.
long cp_read_memory(int32_t pid, uint64_t address, void *into, unsigned long bytes);
/// Has thread `tid` of this process call `call(with)` in a signal handler; false where it does not within `timeout_ns`. One
/// caller at a time. The thread's system call goes on.
bool cp_interrupt(int32_t tid, void (*call)(void *), void *with, int64_t timeout_ns);
/// Return addresses of thread `tid` of this process, innermost first, at most `most`; 0 where it does not answer within
/// `timeout_ns`, by `cp_interrupt`.
int cp_capture_stack(int32_t tid, void **frames, int most, int64_t timeout_ns);
/// The symbol at an address, or NULL, and the file it is in with the offset there.
const char *cp_symbol(const void *address, const char **file, uint64_t *offset);

/// CRC-32C over two words, as they lie in memory (little endian), and bytes. Not inverted at the end.
uint32_t cp_crc32c_entry(uint64_t first, uint64_t second, const void *bytes, unsigned long count);
/// The same over one more word: `sum` is what came out before it.
uint32_t cp_crc32c_word(uint32_t sum, uint64_t word);
/// The same over bytes, without the processor's instruction; `sum` is ~0 before the first.
uint32_t cp_crc32c_by_table(uint32_t sum, const void *bytes, unsigned long count);

/// Whether `path` lies on tmpfs or ramfs.
bool cp_is_memory_file_system(const char *path);

/// How many forks lie between the start of the program and this process: another number than before says that the caller
/// is a child.
uint32_t cp_fork_generation(void);

/// A file that should be at a path.
typedef struct {
    uint64_t device, inode;
    const char *path;
} cp_file_at;

/// `lstat` of the file of a name in a folder. Returns 0 or an error number.
int cp_look_in(const char *folder, const char *name, struct stat *status);

/// Notes the file of a name in a folder: the one that `descriptor` has open, or, if that is negative, the one that is there. Allocates
/// the path. Returns 0 or an error number.
int cp_note_file(cp_file_at *file, const char *folder, const char *name, int descriptor);

/// Whether each path leads to its file. False also where the system does not tell.
bool cp_are_files_at(const cp_file_at *files, size_t count);

/// Makes a pipe whose ends no program started meanwhile inherits: `ends[0]` reads. Returns 0, or -1 with `errno`.
int cp_pipe(int ends[2]);

/// Accepts a connection that no program started meanwhile inherits. Returns its descriptor, or -1 with `errno`.
int cp_accept(int listening);

/// What is read behind the end of a file's map is zeros from here on, where it would be a bus error; the map is of a file that nobody
/// writes to through it. The answer names the map to `cp_unguard_map`, which comes before it is unmapped; negative where there are too
/// many. Installs a handler of SIGBUS at the first call, which hands on what is not about such a map.
///
/// `first` is the place of another map of the same file, which is the one that is said to be cut; negative for none.
int32_t cp_guard_map(const void *begin, uint64_t bytes, int32_t first);
void cp_unguard_map(int32_t place);

/// Has `missing` called, in the handler, before such a page becomes zeros: it may leave by a jump, and find out whether the file was cut
/// or a number has led nowhere. For all maps, once.
void cp_on_missing_page(void (*missing)(void));

/// Installs a handler for faults of this process, on the stack that the earlier handler has asked for. `*earlier` is what was installed.
void cp_install_fault_handler(
    int number, void (*handle)(int number, siginfo_t *information, void *context), struct sigaction *earlier);
/// Whether a signal comes from a fault of this thread, rather than from somebody who sent it.
static inline bool cp_is_fault(const siginfo_t *information) { return information->si_code > 0; }
/// Handles a signal as if the calling handler were not installed: calls the earlier handler with its own flags and mask, or has the
/// system do what it does without a handler. The calling handler stays installed unless that ends the process.
void cp_pass_signal(int number, siginfo_t *information, void *context, struct sigaction *earlier);

/// Has the kernel copy a page of a private map of a file: nothing changes for those who read it meanwhile, nor later.
void cp_copy_private_page(void *page);
/// Whether anybody has read zeros so, or it was noted.
bool cp_map_is_cut(int32_t place);
void cp_note_cut(int32_t place);
/// Lets a child to be spawned begin in `folder` (where it is not NULL), with no descriptor open but the first three.
int cp_isolate_spawn(posix_spawn_file_actions_t *actions, const char *folder);
/// A descriptor that is readable when the child `pid` has ended, or -1 where the kernel has none.
int cp_pidfd(int32_t pid);
/// `write`, but for the signal where nobody reads any more: -1 with `errno` EPIPE is enough.
long cp_write_unsignalled(int descriptor, const void *bytes, unsigned long count);

/// Lets the kernel kill this process when the thread that started it ends.
void cp_die_with_parent(void);

/// An action that runs on the thread that added it, when that thread ends. The memory is the caller's, and stays valid until the action
/// runs or is removed.
struct cp_thread_end {
    struct cp_thread_end *next;
    /// The pointer that leads to this one; NULL while it is in no list.
    struct cp_thread_end **link;
    void (*ended)(void *context);
    void *context;
};
/// Adds an action of the calling thread. The last one added runs first. It runs as a destructor of thread-specific data: after the
/// destructors of `thread_local` variables, before the kernel marks robust mutexes of the thread as abandoned. An action that a
/// destructor adds runs too, in the next of the system's `PTHREAD_DESTRUCTOR_ITERATIONS` rounds. A forked child inherits none.
void cp_add_thread_end(struct cp_thread_end *action);
/// Removes an action, if it has not run yet. On the thread that added it.
void cp_remove_thread_end(struct cp_thread_end *action);
/// The context of the calling thread's action that calls `ended`, or NULL if there is none.
void *cp_thread_end_context(void (*ended)(void *context));

/// Kernel id of the calling thread.
int32_t cp_thread_id(void);
/// A number of the calling thread that no other thread of this process has, or will have. Two loads.
uint64_t cp_thread_number(void);
/// Names the calling thread; the kernel keeps the first 15 bytes.
void cp_set_thread_name(const char *name);
/// The calling thread's name, at most 15 bytes and the end of the string.
void cp_get_thread_name(char name[16]);
/// CPU time of thread `tid` of this process in ns, or -1 when it is gone.
int64_t cp_thread_cpu_ns(int32_t tid);
/// Lets timed sleeps of the calling thread end within `ns` of their deadline (the default slack is 50 µs).
void cp_set_timer_slack_ns(uint64_t ns);
/// Keeps the calling thread, and those it starts, on one of the cores that it may run on, counted round. Returns 0 or an
/// errno.
int cp_pin_to_core(int index);

/// Instructions of user space by thread. Where the processor's counters can be had, a descriptor that begins at 0 now
/// (`tid` 0: the calling thread), or -errno.
int cp_open_instruction_counter(int32_t tid);
/// What it has counted, or -1.
int64_t cp_read_instruction_counter(int descriptor);
/// Under `valgrind --tool=callgrind`, which counts elsewhere.
bool cp_is_under_callgrind(void);
/// Begins to count from 0.
void cp_callgrind_begin(void);
/// Has callgrind write what another thread has done since the last of these into a file of its own, and goes on from 0; false
/// where that thread does not answer. callgrind writes that of the thread that asks, so each is made to ask.
bool cp_callgrind_dump(int32_t tid, const char *label, int64_t timeout_ns);
void cp_callgrind_end(void);
/// Calls `tidegauge_role_0` … in a thread of this process (`tid` 0: the calling one), so that its profile says whose it is.
bool cp_mark_role(int32_t tid, int role, int64_t timeout_ns);
#define CP_ROLES 4

/// CPU time of all threads of this process but the caller, ns; -1 unless each of them sleeps.
int64_t cp_others_asleep_ns(void);
/// Keeps the calling thread, and those it starts, on one core, on which none of them takes it from another that runs.
/// Returns 0 or an errno.
int cp_take_turns_on_core(int index);

/// The label of the dispatch queue that the caller runs on; that of a root queue on a thread libdispatch has not
/// started, NULL in a program without libdispatch.
const char *cp_current_queue_label(void);

#endif
