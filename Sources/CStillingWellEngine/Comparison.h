// See Comparison.c.
#ifndef COMPARISON_H
#define COMPARISON_H

#include <lmdb.h>

/// Makes a table compare its keys and values with the functions of Comparison.c. Returns 0 or an error of LMDB.
int set_comparison(MDB_txn *transaction, MDB_dbi table);

/// Ends the guarded call of this thread with MDB_CORRUPTED. Does nothing outside of a guarded call.
void leave_call(void);

#endif
