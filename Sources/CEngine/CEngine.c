// The engine follows what a page says without a look: a damaged one leads to an assertion, or to an address that nobody has. Both are
// caught here and end the call. What is jumped over are functions of the engine alone, which keep no lock while they follow pages
// but the writer's, and that goes with its transaction.
//
// `current` is a thread's own. Of the process: the handlers before these, written once, and whether any environment is broken.
#include "CEngine.h"

#include "CPlatform.h"
#include "PageLook.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

// What an environment carries. With the write lock.
struct context {
    bool is_broken;
    struct engine_look *look;
};

struct call {
    void *jump[5];
};

static _Thread_local struct call *current;
static struct sigaction earlier_fault, earlier_bus, earlier_division;
// Whether any environment of the process is broken, and whether any has pages to be looked at: most processes have none.
static atomic_bool any_broken, any_look;

static struct context *context_of(MDB_env *environment) { return mdb_env_get_userctx(environment); }

#define SET_JUMP(call) __builtin_setjmp((call).jump)

static void leave(void) {
    struct call *call = current;
    if (!call) return;
    current = NULL;
    __builtin_longjmp(call->jump, 1);
}

static void leave_handler(int signal) {
    if (!current) return;
    // Whoever is jumped out of does not end the handler.
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, signal);
    pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
    leave();
}

// As zeros it would be followed like any other: a search in a page that counts its entries wrongly would go on in it without an end.
static void page_is_missing(void) { leave_handler(SIGBUS); }

static void handle(int signal, siginfo_t *information, void *context) {
    leave_handler(signal);
    // Somebody else's: as if this handler were not there.
    struct sigaction *earlier = signal == SIGBUS ? &earlier_bus : signal == SIGFPE ? &earlier_division : &earlier_fault;
    if (earlier->sa_flags & SA_SIGINFO && earlier->sa_sigaction) return earlier->sa_sigaction(signal, information, context);
    if (earlier->sa_handler != SIG_DFL && earlier->sa_handler != SIG_IGN) return earlier->sa_handler(signal);
    sigaction(signal, earlier, NULL);
}

static void install(void) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &earlier_fault);
    sigaction(SIGBUS, &action, &earlier_bus);
    sigaction(SIGFPE, &action, &earlier_division);
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
    if (info.me_last_pgno >= info.me_mapsize / 4096) return MDB_CORRUPTED;
    context->look = look_begin(map, info.me_last_pgno, info.me_mapsize / 4096);
    atomic_store_explicit(&any_look, true, memory_order_relaxed);
    return context->look ? 0 : ENOMEM;
}

void engine_close(MDB_env *environment) {
    struct context *context = context_of(environment);
    mdb_env_close(environment);
    if (context) look_end(context->look);
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

// Looks at what changing a key may change, where that has to be looked at.
static int look_first(MDB_txn *transaction, MDB_dbi table, const MDB_val *key, const MDB_val *value) {
    struct engine_look *look = look_of(transaction);
    return look ? look_at_way(look, mdb_txn_id(transaction), table, key, value) : 0;
}

// Never inlined into a caller, whose locals would have to be in memory.
#define GUARDED __attribute__((noinline))
#define RUN(on_damage, engine_call)            \
    struct call here;                          \
    if (SET_JUMP(here)) return on_damage;      \
    current = &here;                           \
    atomic_signal_fence(memory_order_seq_cst); \
    int code = engine_call;                    \
    atomic_signal_fence(memory_order_seq_cst); \
    current = NULL;                            \
    return code
#define READ(engine_call) RUN(MDB_CORRUPTED, engine_call)
#define WRITE(transaction, engine_call)                                   \
    if (engine_is_broken(mdb_txn_env(transaction))) return MDB_CORRUPTED; \
    RUN(breaks(mdb_txn_env(transaction)), engine_call)

// What it has locked by then goes with the files that the environment closes.
GUARDED int engine_open(MDB_env *environment, const char *path, unsigned int flags, mdb_mode_t mode) {
    READ(mdb_env_open(environment, path, flags, mode));
}

static GUARDED int open_table(MDB_txn *transaction, const char *name, unsigned int flags, MDB_dbi *table) {
    WRITE(transaction, mdb_dbi_open(transaction, name, flags, table));
}

int engine_open_table(MDB_txn *transaction, const char *name, unsigned int flags, MDB_dbi *table) {
    int code = open_table(transaction, name, flags, table);
    struct engine_look *look = look_of(transaction);
    return code == 0 && look && !look_name(look, *table, name) ? ENOMEM : code;
}

static GUARDED int commit(MDB_txn *transaction) { WRITE(transaction, mdb_txn_commit(transaction)); }

static GUARDED int end(MDB_txn *transaction) {
    RUN(breaks(mdb_txn_env(transaction)), (mdb_txn_abort(transaction), 0));
}

int engine_commit(MDB_txn *transaction) {
    MDB_env *environment = mdb_txn_env(transaction);
    int code = commit(transaction);
    // One that failed by itself has ended its transaction; one that was left, or that did not begin, has not.
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
    int code = look ? look_at_tree(look, mdb_txn_id(transaction), table) : 0;
    return code != 0 ? code : drop(transaction, table, del);
}

GUARDED int engine_get(MDB_txn *transaction, MDB_dbi table, MDB_val *key, MDB_val *value) {
    READ(mdb_get(transaction, table, key, value));
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

GUARDED int engine_cursor_get(MDB_cursor *cursor, MDB_val *key, MDB_val *value, MDB_cursor_op op) {
    READ(mdb_cursor_get(cursor, key, value, op));
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
