// Guarded calls of LMDB. They do what the `mdb_` functions of similar names do, but a fault that a damaged page causes
// is an error of the call and does not end the process.
#ifndef CENGINE_H
#define CENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "../../CStillingWellLMDB/shim.h"

/// The list of free pages is damaged: for example, it has pages that are in use, or that do not exist. Returned by
/// calls in transactions that write.
enum { ENGINE_FREE_PAGES = -30600 };

/// Makes faults of LMDB in this environment errors of the calls below: failed assertions, unmapped addresses, pages
/// beyond the end of the file, and divisions by zero. The calls return MDB_CORRUPTED. After a write that failed so, the
/// transaction's memory is in an unknown state, so nothing is committed in the environment any more. Called before it
/// is opened. Returns 0 or a system error.
int engine_guard(MDB_env *environment);

/// Makes writes check the pages that they may change, for a file that may have been damaged while it was closed. A
/// write of a damaged page returns MDB_CORRUPTED or ENGINE_FREE_PAGES and changes nothing. Called after the environment
/// is opened, before its tables. Returns 0, MDB_CORRUPTED or ENOMEM.
/// - `map`: address of the file's first page.
int engine_look(MDB_env *environment, const void *map);

/// Makes reads return MDB_CORRUPTED for values of more than a page that extend beyond the end of the file. Called
/// before others have the environment.
/// - `map`: address of the file's first page.
void engine_map(MDB_env *environment, const void *map);

/// Enables `engine_check_range` in this environment. Called after it is opened, before other threads read in it.
/// - `first`: the environment that the file is written in, which records checked pages. May be the same one.
void engine_check_reads(MDB_env *environment, MDB_env *first);

struct engine_entry {
    MDB_val key, value;
};

/// Range of keys that a read has visited. A key or value without data is an open end.
struct engine_range {
    MDB_val low, high;
    /// Entry at which the read ended before the end of the range. Later values of the same key are left out.
    struct engine_entry end;
    /// Whether values were read in descending order.
    bool is_backward;
    /// Whether the values of a key were counted and not read.
    bool counts;
};

/// Checks whether a read has met every stored entry of a range. Returns 0 if each page that can hold one is the
/// expected page, or if reads are not checked; otherwise MDB_CORRUPTED or another error.
/// - `neighbours`: receives the entries before and behind the low end of the range for the caller to check, or NULL. An
///   entry on another page is left out.
int engine_check_range(
    MDB_txn *transaction, MDB_dbi table, const struct engine_range *range, struct engine_entry neighbours[2]);

void engine_close(MDB_env *environment);

/// Returns whether a write or an abort was ended by a fault. Requires the write lock.
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
