// Comparison of keys and of values in place of LMDB's own functions, with the same order.
//
// LMDB reads a negative number of keys in the head of a page as almost 2^31. If the page also claims to hold values of
// one length, and the tree gives 0 for that length, every key is empty and at the same address, and LMDB's search does
// not end. No stored key or value is empty, so a comparison with an empty one ends the call.
#include "Comparison.h"

#include <stdint.h>
#include <string.h>

// A number with the order of eight bytes.
static inline uint64_t ordered_eight(const uint8_t *bytes) {
    uint64_t number;
    memcpy(&number, bytes, sizeof number);
    return __builtin_bswap64(number);
}

// A number with the order of `count` bytes, 1 to 7. The loads overlap.
static inline uint64_t ordered_few(const uint8_t *bytes, size_t count) {
    if (count < 4) return (uint64_t)bytes[0] << 16 | (uint64_t)bytes[count / 2] << 8 | bytes[count - 1];
    uint32_t first, last;
    memcpy(&first, bytes, sizeof first);
    memcpy(&last, bytes + count - sizeof last, sizeof last);
    return (uint64_t)__builtin_bswap32(first) << 32 | __builtin_bswap32(last);
}

// Compares fewer than eight bytes, or bytes whose first eight are equal. Not inlined, to save others a stack frame.
static __attribute__((noinline)) int compare_rest(const MDB_val *one, const MDB_val *other) {
    const uint8_t *first = one->mv_data, *second = other->mv_data;
    size_t common = one->mv_size < other->mv_size ? one->mv_size : other->mv_size;
    if (common > 16) {
        int order = memcmp(first + 8, second + 8, common - 8);
        if (order != 0) return order;
    } else {
        if (common == 0) leave_call();
        // The last eight bytes of 8 to 16. They may overlap the first eight, which are equal.
        uint64_t a = common < 8 ? ordered_few(first, common) : ordered_eight(first + common - 8);
        uint64_t b = common < 8 ? ordered_few(second, common) : ordered_eight(second + common - 8);
        if (a != b) return a < b ? -1 : 1;
    }
    return one->mv_size < other->mv_size ? -1 : one->mv_size > other->mv_size;
}

// Most keys differ in their first eight bytes or have at most sixteen. For those, loads are faster than `memcmp`.
static int compare_bytes(const MDB_val *one, const MDB_val *other) {
    if (one->mv_size < 8 || other->mv_size < 8) return compare_rest(one, other);
    uint64_t first = ordered_eight(one->mv_data), second = ordered_eight(other->mv_data);
    if (first == second) return compare_rest(one, other);
    return first < second ? -1 : 1;
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
