// Calls of the engine that follow pages of a file: as those of the same names with `mdb_`, but a page that makes no sense is an error
// of the call, not the end of the process.
#ifndef CENGINE_H
#define CENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "../../CLMDB/shim.h"

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
