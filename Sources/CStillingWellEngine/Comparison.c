// Comparison of keys and of values, in place of the engine's own functions, and in the same order.
//
// A page whose head gives a negative number of keys has 2^31 of them for the engine. If it also claims to hold values of one length, and
// the tree gives 0 for that length, every one of them is an empty key at the same address, and the engine's search does not end. No key
// or value that is stored is empty, so a comparison with an empty one ends the call.
#include "Comparison.h"

#include <stdint.h>
#include <string.h>

static int compare_bytes(const MDB_val *one, const MDB_val *other) {
    size_t common = one->mv_size < other->mv_size ? one->mv_size : other->mv_size;
    int order = memcmp(one->mv_data, other->mv_data, common);
    if (order != 0) return order;
    if (common == 0) leave_call();
    return one->mv_size < other->mv_size ? -1 : one->mv_size > other->mv_size;
}

// Compares keys that are numbers of 8 bytes.
static int compare_numbers(const MDB_val *one, const MDB_val *other) {
    if (other->mv_size == 0) leave_call();
    uint64_t first, second;
    memcpy(&first, one->mv_data, sizeof first);
    memcpy(&second, other->mv_data, sizeof second);
    return first < second ? -1 : first > second;
}

int set_comparison(MDB_txn *transaction, MDB_dbi table) {
    unsigned int flags = 0;
    int code = mdb_dbi_flags(transaction, table, &flags);
    if (code == 0) code = mdb_set_compare(transaction, table, flags & MDB_INTEGERKEY ? compare_numbers : compare_bytes);
    if (code == 0 && flags & MDB_DUPSORT) code = mdb_set_dupsort(transaction, table, compare_bytes);
    return code;
}
