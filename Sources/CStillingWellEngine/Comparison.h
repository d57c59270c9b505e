// See Comparison.c.
#ifndef COMPARISON_H
#define COMPARISON_H

#include <lmdb.h>

/// Has keys and values of a table be compared here. 0 or an error of the engine.
int set_comparison(MDB_txn *transaction, MDB_dbi table);

/// Ends the guarded call of this thread, if there is one, with MDB_CORRUPTED.
void leave_call(void);

#endif
