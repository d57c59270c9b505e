// Calls of the engine that follow pages of a file: as those of the same names with `mdb_`, but a page that makes no sense is an error
// of the call, not the end of the process.
#ifndef CENGINE_H
#define CENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "../../CStillingWellLMDB/shim.h"

/// The list of free pages is damaged: it names pages that are in use, or none of the file. Returned by calls that write.
enum { ENGINE_FREE_PAGES = -30600 };

/// Has what the engine meets in this environment be errors of the calls below: assertions that do not hold, addresses that are
/// not mapped, pages behind the end of the file, and divisions by a zero. They return MDB_CORRUPTED. One that writes leaves the
/// environment broken: what it has changed by then, in memory of the transaction, is not known, so nothing is committed there any
/// more. Before it is opened. 0, or an error of the system.
int engine_guard(MDB_env *environment);

/// Has what writes look first at the pages that it is going to change, each once: for a file that others may have damaged while
/// nobody had it open. What it finds is MDB_CORRUPTED, and nothing has changed. Once it is open, before its tables are.
/// - `map`: where its first page lies.
int engine_look(MDB_env *environment, const void *map);

/// Has values that are read be checked to lie in the file: one that goes on behind its end is MDB_CORRUPTED. Before anybody else has the
/// environment.
/// - `map`: where its first page lies.
void engine_map(MDB_env *environment, const void *map);

/// Has `engine_check_range` check reads in this environment. Once it is open, before others read in it.
/// - `first`: the environment that the file is written in, which knows what pages have been checked; may be the same one.
void engine_check_reads(MDB_env *environment, MDB_env *first);

struct engine_entry {
    MDB_val key, value;
};

/// Keys that a read has gone over. An end without data is open, and so are values.
struct engine_range {
    MDB_val low, high;
    /// Entry at which the read ended before the end of the range. Later values of the same key are left out.
    struct engine_entry end;
    /// Whether values were read in descending order.
    bool is_backward;
    /// Whether the values of a key were counted and not read.
    bool counts;
};

/// Whether a read of a range has met every entry that was stored there. 0 where each page that can hold one is the page that was
/// asked for, and where reads are not checked; else MDB_CORRUPTED.
/// - `neighbours`: the entries before and behind the low end of the range, to be checked by the caller; NULL for none. One that is not on
///   the same page is left alone.
int engine_check_range(
    MDB_txn *transaction, MDB_dbi table, const struct engine_range *range, struct engine_entry neighbours[2]);

void engine_close(MDB_env *environment);

/// Whether a call that writes has met damage. With the write lock.
bool engine_is_broken(MDB_env *environment);

int engine_open(MDB_env *environment, const char *path, unsigned int flags, mdb_mode_t mode);
int engine_open_table(MDB_txn *transaction, const char *name, unsigned int flags, MDB_dbi *table);
int engine_commit(MDB_txn *transaction);
void engine_abort(MDB_txn *transaction);
int engine_stat(MDB_txn *transaction, MDB_dbi table, MDB_stat *stat);
int engine_drop(MDB_txn *transaction, MDB_dbi table, int del);
int engine_get(MDB_txn *transaction, MDB_dbi table, MDB_val *key, MDB_val *value);
int engine_put(MDB_txn *transaction, MDB_dbi table, MDB_val *key, MDB_val *value, unsigned int flags);
int engine_del(MDB_txn *transaction, MDB_dbi table, MDB_val *key, MDB_val *value);
int engine_cursor_open(MDB_txn *transaction, MDB_dbi table, MDB_cursor **cursor);
int engine_cursor_renew(MDB_txn *transaction, MDB_cursor *cursor);
int engine_cursor_get(MDB_cursor *cursor, MDB_val *key, MDB_val *value, MDB_cursor_op op);
int engine_cursor_put(MDB_cursor *cursor, MDB_val *key, MDB_val *value, unsigned int flags);
int engine_cursor_del(MDB_cursor *cursor, unsigned int flags);
int engine_cursor_count(MDB_cursor *cursor, size_t *count);

#endif
