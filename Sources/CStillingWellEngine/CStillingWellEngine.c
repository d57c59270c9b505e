// LMDB checks little of the content of pages. A damaged page can lead to a failed assertion, an unmapped address or a
// division by zero. These are caught here and end the call. The jump skips functions of LMDB and of Comparison.c. While
// they follow pages, these hold no lock except the writer's, which is released with its transaction.
//
// `current` is thread-local. Shared by the process: the earlier signal handlers, `any_broken` and `any_look`.
#include "CStillingWellEngine.h"

#include "CStillingWellPlatform.h"
#include "Comparison.h"
#include "PageLook.h"
#include "RangeLook.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// LMDB's table of named tables.
enum { TABLES = 1 };

// State of an environment. Guarded by the write lock. Reads use `look`, `map`, `checked` and `tables` without it, so
// these are set before others have the environment.
struct context {
    bool is_broken;
    struct engine_look *look;
    // Address of the file's first page, or NULL if unknown.
    const char *map;
    // Context of the environment that writes. NULL if reads are not checked.
    struct context *checked;
    // Names of opened tables by handle. Grown on demand: room for all tables took 25,000 instructions per opening.
    unsigned int count;
    struct named_table *tables;
};

struct call {
    void *jump[5];
    // Transaction that the call changes; NULL for a read and for an abort.
    MDB_txn *transaction;
    // Stack address at the begin of a call that writes. (Under AddressSanitizer this struct may not be on the stack.)
    uintptr_t stack;
};

static _Thread_local struct call *current;
static struct sigaction earlier_fault, earlier_bus, earlier_division;
// Whether any environment of the process was ever broken, and whether any ever had pages to be checked.
static atomic_bool any_broken, any_look;

static struct context *context_of(MDB_env *environment) { return mdb_env_get_userctx(environment); }

#define SET_JUMP(call) __builtin_setjmp((call).jump)

// While LMDB changes a tree, its transaction refers to cursors on the stack. If the call is left, these would later be
// freed. So each reference to one is replaced by the next cursor in its list; a cursor begins with the pointer to the
// next one.
static void forget_cursors(const struct call *call) {
    enum { MOST_STACK = 1 << 17, MOST_CURSORS = 64 };
    uintptr_t end = call->stack;
    uintptr_t *words = (uintptr_t *)call->transaction;
    size_t count = malloc_usable_size(call->transaction) / sizeof(uintptr_t);
    for (size_t index = 0; index < count; index++) {
        for (int left = MOST_CURSORS; words[index] < end && words[index] >= end - MOST_STACK; left--) {
            words[index] = left > 0 ? *(uintptr_t *)words[index] : 0;
        }
    }
}

static void leave(void) {
    struct call *call = current;
    if (!call) return;
    current = NULL;
    if (call->transaction) forget_cursors(call);
    __builtin_longjmp(call->jump, 1);
}

void leave_call(void) { leave(); }

static void leave_handler(int signal) {
    if (!current) return;
    // The jump does not return from the handler, so the signal is unblocked here.
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, signal);
    pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
    leave();
}

// Replacing the page by zeros is not enough: a search in a page with a wrong number of entries may not end.
static void page_is_missing(void) { leave_handler(SIGBUS); }

static void handle(int signal, siginfo_t *information, void *context) {
    // A signal that was sent by a process is not about the call.
    if (cp_is_fault(information)) leave_handler(signal);
    struct sigaction *earlier = signal == SIGBUS ? &earlier_bus : signal == SIGFPE ? &earlier_division : &earlier_fault;
    cp_pass_signal(signal, information, context, earlier);
}

static void install(void) {
    cp_install_fault_handler(SIGSEGV, handle, &earlier_fault);
    cp_install_fault_handler(SIGBUS, handle, &earlier_bus);
    cp_install_fault_handler(SIGFPE, handle, &earlier_division);
    cp_on_missing_page(page_is_missing);
}

static void asserted(MDB_env *environment, const char *text) {
    (void)environment;
    (void)text;
    leave();
}

int engine_guard(MDB_env *environment) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    mdb_env_set_assert(environment, asserted);
    struct context *context = calloc(1, sizeof(struct context));
    return context ? mdb_env_set_userctx(environment, context) : ENOMEM;
}

int engine_look(MDB_env *environment, const void *map) {
    struct context *context = context_of(environment);
    MDB_envinfo info;
    mdb_env_info(environment, &info);
    if (info.me_last_pgno >= info.me_mapsize / PAGE) return MDB_CORRUPTED;
    context->look = look_begin(map, info.me_last_pgno, info.me_mapsize / PAGE);
    atomic_store_explicit(&any_look, true, memory_order_relaxed);
    return context->look ? 0 : ENOMEM;
}

void engine_check_reads(MDB_env *environment, MDB_env *first) {
    context_of(environment)->checked = context_of(first);
}

void engine_map(MDB_env *environment, const void *map) { context_of(environment)->map = map; }

// Whether a value extends beyond the last page of the file, which is damage. Not called for values of at most a page.
static bool is_outside(MDB_env *environment, const MDB_val *value) {
    const char *map = context_of(environment)->map;
    if (!map) return false;
    MDB_envinfo info;
    mdb_env_info(environment, &info);
    size_t offset = (size_t)((const char *)value->mv_data - map);
    // A page made by a transaction lies outside of the map.
    if (offset >= info.me_mapsize) return false;
    size_t most = info.me_mapsize / PAGE, pages = info.me_last_pgno < most ? info.me_last_pgno + 1 : most;
    return offset > pages * PAGE || value->mv_size > pages * PAGE - offset;
}

// Result of a read: MDB_CORRUPTED if the value extends beyond the file.
#define INSIDE(code, transaction, value) \
    ((code) == 0 && (value)->mv_size > PAGE && is_outside(mdb_txn_env(transaction), value) ? MDB_CORRUPTED : (code))

void engine_close(MDB_env *environment) {
    struct context *context = context_of(environment);
    mdb_env_close(environment);
    if (!context) return;
    look_end(context->look);
    for (unsigned int table = 0; table < context->count; table++) free(context->tables[table].name);
    free(context->tables);
    free(context);
}

bool engine_is_broken(MDB_env *environment) {
    return atomic_load_explicit(&any_broken, memory_order_relaxed) && context_of(environment)->is_broken;
}

static int breaks(MDB_env *environment) {
    context_of(environment)->is_broken = true;
    atomic_store_explicit(&any_broken, true, memory_order_relaxed);
    return MDB_CORRUPTED;
}

static struct engine_look *look_of(MDB_txn *transaction) {
    return atomic_load_explicit(&any_look, memory_order_relaxed) ? context_of(mdb_txn_env(transaction))->look : NULL;
}

// Table of a handle, or NULL if the handle was not opened by name.
static struct named_table *named(MDB_txn *transaction, MDB_dbi table) {
    struct context *context = context_of(mdb_txn_env(transaction));
    return table < context->count && context->tables[table].name ? &context->tables[table] : NULL;
}

// Stores the name of a handle. Returns false if there is no memory.
static bool note_name(MDB_txn *transaction, MDB_dbi table, const char *name) {
    struct context *context = context_of(mdb_txn_env(transaction));
    if (table >= context->count) {
        unsigned int count = table + 16;
        struct named_table *tables = realloc(context->tables, count * sizeof(struct named_table));
        if (!tables) return false;
        memset(tables + context->count, 0, (count - context->count) * sizeof(struct named_table));
        context->tables = tables;
        context->count = count;
    }
    struct named_table *named = &context->tables[table];
    if (named->name && strcmp(named->name, name) == 0) return true;
    // LMDB reuses the handle of a deleted table.
    free(named->name);
    *named = (struct named_table){.name = strdup(name)};
    return named->name != NULL;
}

static __attribute__((noinline)) int look_at_change(
    MDB_txn *transaction, MDB_dbi table, const MDB_val *key, const MDB_val *value) {
    struct engine_look *look = look_of(transaction);
    return look ? look_at_way(look, mdb_txn_id(transaction), named(transaction, table), key, value) : 0;
}

// Checks the pages that changing a key may change, if pages have to be checked.
static inline int look_first(MDB_txn *transaction, MDB_dbi table, const MDB_val *key, const MDB_val *value) {
    if (!atomic_load_explicit(&any_look, memory_order_relaxed)) return 0;
    return look_at_change(transaction, table, key, value);
}

// Not inlined: the caller's locals would have to be kept in memory.
#define GUARDED __attribute__((noinline))
#define STACK (uintptr_t)__builtin_frame_address(0)
#define RUN(changed, on_damage, engine_call)   \
    struct call here;                          \
    here.transaction = changed;                \
    if (changed) here.stack = STACK;           \
    if (SET_JUMP(here)) return on_damage;      \
    current = &here;                           \
    atomic_signal_fence(memory_order_seq_cst); \
    int code = engine_call;                    \
    atomic_signal_fence(memory_order_seq_cst); \
    current = NULL;                            \
    return code
#define READ(engine_call) RUN(NULL, MDB_CORRUPTED, engine_call)
#define WRITE(transaction, engine_call)                                   \
    if (engine_is_broken(mdb_txn_env(transaction))) return MDB_CORRUPTED; \
    RUN(transaction, breaks(mdb_txn_env(transaction)), engine_call)

// Locks taken before a failure are released when the environment closes its files.
static GUARDED int open_environment(MDB_env *environment, const char *path, unsigned int flags, mdb_mode_t mode) {
    READ(mdb_env_open(environment, path, flags, mode));
}

int engine_open(MDB_env *environment, const char *path, unsigned int flags, mdb_mode_t mode) {
    int code = open_environment(environment, path, flags, mode);
    if (code != 0) return code;
    // LMDB opens the data file without FD_CLOEXEC, unlike its other files.
    int file;
    code = mdb_env_get_fd(environment, &file);
    return code != 0 ? code : fcntl(file, F_SETFD, FD_CLOEXEC) == 0 ? 0 : errno;
}

static GUARDED int open_table(MDB_txn *transaction, const char *name, unsigned int flags, MDB_dbi *table) {
    WRITE(transaction, mdb_dbi_open(transaction, name, flags, table));
}

static bool writes(MDB_txn *transaction) {
    MDB_envinfo info;
    mdb_env_info(mdb_txn_env(transaction), &info);
    return mdb_txn_id(transaction) > info.me_last_txnid;
}

int engine_open_table(MDB_txn *transaction, const char *name, unsigned int flags, MDB_dbi *table) {
    struct engine_look *look = look_of(transaction);
    int code = set_comparison(transaction, TABLES);
    if (code != 0) return code;
    code = open_table(transaction, name, look ? flags & ~(unsigned int)MDB_CREATE : flags, table);
    if (look && code == MDB_NOTFOUND && flags & MDB_CREATE) {
        // A table may seem missing because of damage to the tree that it would be added to.
        code = writes(transaction) ? look_at_tables(look, mdb_txn_id(transaction)) : 0;
        if (code == 0) code = open_table(transaction, name, flags, table);
    }
    if (code == 0) code = set_comparison(transaction, *table);
    return code == 0 && !note_name(transaction, *table, name) ? ENOMEM : code;
}

static GUARDED int commit(MDB_txn *transaction) { WRITE(transaction, mdb_txn_commit(transaction)); }

static GUARDED int end(MDB_txn *transaction) {
    RUN(NULL, breaks(mdb_txn_env(transaction)), (mdb_txn_abort(transaction), 0));
}

int engine_commit(MDB_txn *transaction) {
    MDB_env *environment = mdb_txn_env(transaction);
    int code = commit(transaction);
    // A commit that failed by itself has ended its transaction. One that was left by a jump, or did not begin, has not.
    if (code != 0 && engine_is_broken(environment)) end(transaction);
    return code;
}

void engine_abort(MDB_txn *transaction) { end(transaction); }

GUARDED int engine_stat(MDB_txn *transaction, MDB_dbi table, MDB_stat *stat) {
    READ(mdb_stat(transaction, table, stat));
}

static GUARDED int drop(MDB_txn *transaction, MDB_dbi table, int del) {
    WRITE(transaction, mdb_drop(transaction, table, del));
}

int engine_drop(MDB_txn *transaction, MDB_dbi table, int del) {
    struct engine_look *look = look_of(transaction);
    int code = look ? look_at_tree(look, mdb_txn_id(transaction), named(transaction, table)) : 0;
    return code != 0 ? code : drop(transaction, table, del);
}

static GUARDED int get(MDB_txn *transaction, MDB_dbi table, MDB_val *key, MDB_val *value) {
    READ(mdb_get(transaction, table, key, value));
}

int engine_get(MDB_txn *transaction, MDB_dbi table, MDB_val *key, MDB_val *value) {
    int code = get(transaction, table, key, value);
    return INSIDE(code, transaction, value);
}

int engine_check_range(
    MDB_txn *transaction, MDB_dbi table, const struct engine_range *range, struct engine_entry neighbours[2]) {
    MDB_env *environment = mdb_txn_env(transaction);
    struct context *context = context_of(environment);
    struct named_table *read = named(transaction, table);
    if (!context->checked || !context->map || !read) return 0;
    struct engine_look *look = context->checked->look;
    if (context->checked == context && writes(transaction)) {
        if (!look) return 0;
        // Pages changed by the transaction itself are whole. The others are as at its begin.
        struct tree tree;
        int code = look_for_tree(look, mdb_txn_id(transaction), read, &tree);
        struct page_view view = look_view(look);
        return code != 0 ? code : look_at_range(&view, tree, ANY_NUMBER, range, neighbours);
    }
    MDB_val name = {.mv_size = strlen(read->name), .mv_data = read->name}, record;
    int code = get(transaction, TABLES, &name, &record);
    if (code != 0 || record.mv_size != TREE) return code == MDB_NOTFOUND ? 0 : code != 0 ? code : MDB_CORRUPTED;
    MDB_envinfo info;
    mdb_env_info(environment, &info);
    struct page_view view = {.map = (const uint8_t *)context->map, .last = info.me_last_pgno};
    if (look) {
        view.pages = look_view(look).pages;
        view.seen = look_view(look).seen;
    }
    const uint8_t *bytes = record.mv_data;
    return look_at_range(&view, tree_at(bytes), u64(bytes + 32), range, neighbours);
}

static GUARDED int put(MDB_txn *transaction, MDB_dbi table, MDB_val *key, MDB_val *value, unsigned int flags) {
    WRITE(transaction, mdb_put(transaction, table, key, value, flags));
}

int engine_put(MDB_txn *transaction, MDB_dbi table, MDB_val *key, MDB_val *value, unsigned int flags) {
    int code = look_first(transaction, table, key, value);
    return code != 0 ? code : put(transaction, table, key, value, flags);
}

static GUARDED int del(MDB_txn *transaction, MDB_dbi table, MDB_val *key, MDB_val *value) {
    WRITE(transaction, mdb_del(transaction, table, key, value));
}

int engine_del(MDB_txn *transaction, MDB_dbi table, MDB_val *key, MDB_val *value) {
    int code = look_first(transaction, table, key, value);
    return code != 0 ? code : del(transaction, table, key, value);
}

GUARDED int engine_cursor_open(MDB_txn *transaction, MDB_dbi table, MDB_cursor **cursor) {
    READ(mdb_cursor_open(transaction, table, cursor));
}

GUARDED int engine_cursor_renew(MDB_txn *transaction, MDB_cursor *cursor) {
    READ(mdb_cursor_renew(transaction, cursor));
}

static GUARDED int cursor_get(MDB_cursor *cursor, MDB_val *key, MDB_val *value, MDB_cursor_op op) {
    READ(mdb_cursor_get(cursor, key, value, op));
}

int engine_cursor_get(MDB_cursor *cursor, MDB_val *key, MDB_val *value, MDB_cursor_op op) {
    int code = cursor_get(cursor, key, value, op);
    return INSIDE(code, mdb_cursor_txn(cursor), value);
}

static GUARDED int cursor_put(MDB_cursor *cursor, MDB_val *key, MDB_val *value, unsigned int flags) {
    WRITE(mdb_cursor_txn(cursor), mdb_cursor_put(cursor, key, value, flags));
}

int engine_cursor_put(MDB_cursor *cursor, MDB_val *key, MDB_val *value, unsigned int flags) {
    int code = look_first(mdb_cursor_txn(cursor), mdb_cursor_dbi(cursor), key, value);
    return code != 0 ? code : cursor_put(cursor, key, value, flags);
}

static GUARDED int cursor_del(MDB_cursor *cursor, unsigned int flags) {
    WRITE(mdb_cursor_txn(cursor), mdb_cursor_del(cursor, flags));
}

int engine_cursor_del(MDB_cursor *cursor, unsigned int flags) {
    if (look_of(mdb_cursor_txn(cursor))) {
        MDB_val key, value;
        int code = engine_cursor_get(cursor, &key, &value, MDB_GET_CURRENT);
        if (code == 0) code = look_first(mdb_cursor_txn(cursor), mdb_cursor_dbi(cursor), &key, &value);
        if (code != 0) return code;
    }
    return cursor_del(cursor, flags);
}

GUARDED int engine_cursor_count(MDB_cursor *cursor, size_t *count) {
    READ(mdb_cursor_count(cursor, count));
}
