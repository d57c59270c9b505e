// Guards maps of files that may be truncated while they are read. Reading a page behind the end of the file raises
// SIGBUS, which ends the process. The handler replaces such a page by zeros, which readers detect.
//
// `handle` runs as a signal handler, so it takes no lock and allocates nothing.
#define _GNU_SOURCE
#include "CStillingWellPlatform.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_MAPS = 256 };

static struct {
    // Start of the map; 0 for a free slot. Written last.
    atomic_uintptr_t begin;
    atomic_uintptr_t end;
    // Whether the file was found truncated.
    atomic_bool is_cut;
    // Slot whose `is_cut` records that: the first map of the same file.
    atomic_int first;
} guarded[MOST_MAPS];

static struct sigaction earlier;
static uintptr_t page_bytes;
static _Atomic(void (*)(void)) on_missing;

// Returns the slot of the map that contains an address, or a negative number.
static int guarded_place(uintptr_t address) {
    for (int place = 0; place < MOST_MAPS; place++) {
        uintptr_t begin = atomic_load_explicit(&guarded[place].begin, memory_order_acquire);
        if (begin == 0 || address < begin) continue;
        if (address < atomic_load_explicit(&guarded[place].end, memory_order_relaxed)) return place;
    }
    return -1;
}

void cp_note_cut(int32_t place) {
    if (place < 0) return;
    int first = atomic_load_explicit(&guarded[place].first, memory_order_relaxed);
    atomic_store_explicit(&guarded[first].is_cut, true, memory_order_release);
}

static void handle(int signal, siginfo_t *information, void *context) {
    uintptr_t address = (uintptr_t)information->si_addr;
    int place = information->si_code == BUS_ADRERR ? guarded_place(address) : -1;
    if (place >= 0) {
        void (*missing)(void) = atomic_load_explicit(&on_missing, memory_order_relaxed);
        if (missing) missing();
        // Before any thread can read a zero.
        cp_note_cut(place);
        void *page = (void *)(address & ~(page_bytes - 1));
        void *zeros = mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (zeros == page) return;
    }
    cp_pass_signal(signal, information, context, &earlier);
}

static void install(void) {
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    cp_install_fault_handler(SIGBUS, handle, &earlier);
}

int32_t cp_guard_map(const void *begin, uint64_t bytes, int32_t first) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_once(&once, install);
    pthread_mutex_lock(&lock);
    int32_t found = -1;
    for (int32_t place = 0; place < MOST_MAPS && found < 0; place++) {
        if (atomic_load_explicit(&guarded[place].begin, memory_order_relaxed) != 0) continue;
        atomic_store_explicit(&guarded[place].is_cut, false, memory_order_relaxed);
        atomic_store_explicit(&guarded[place].first, first < 0 ? place : first, memory_order_relaxed);
        atomic_store_explicit(&guarded[place].end, (uintptr_t)begin + bytes, memory_order_relaxed);
        atomic_store_explicit(&guarded[place].begin, (uintptr_t)begin, memory_order_release);
        found = place;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void cp_on_missing_page(void (*missing)(void)) { atomic_store_explicit(&on_missing, missing, memory_order_relaxed); }

void cp_unguard_map(int32_t place) {
    if (place >= 0) atomic_store_explicit(&guarded[place].begin, 0, memory_order_release);
}

bool cp_map_is_cut(int32_t place) {
    return place >= 0 && atomic_load_explicit(&guarded[place].is_cut, memory_order_acquire);
}

// Writes the value that is there, so that no reader can notice.
__attribute__((no_sanitize("thread"))) void cp_copy_private_page(void *page) {
    volatile unsigned char *byte = page;
    *byte = *byte;
}
