// Pages of LMDB's file and their content, in LMDB's data version 1.
//
//     page    0 number (8), 8 length of a value (2), 10 kind (2), 12 end of the offsets (2), 14 first entry (2),
//             16 offsets of the entries (2 each) or, for values of one length, the values
//             of an overflow value: 12 number of pages (4), 16 the value
//     entry   of a leaf: 0 length of the value (4), 4 flags (2), 6 length of the key (2), 8 key, value
//             of a branch: 0 number of the child page (6), 6 length of the key (2), 8 key; the first key is unused
//     tree    0 length of values of equal length (4), 4 flags (2), 6 depth (2), 40 number of the root page (8)
//     meta    40 tree of the free pages, 88 tree of tables, 136 number of the last page, 144 number of the transaction
#ifndef PAGES_H
#define PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { PAGE = 4096 };
enum { HEAD = 16, ENTRY = 8, TREE = 48, MOST_DEPTH = 32 };
enum { BRANCH = 1, LEAF = 2, LARGE = 4, VALUES = 0x20, INSIDE = 0x40, LEFT_DIRTY = 0x10 };
enum { HAS_LARGE = 1, HAS_TREE = 2, HAS_VALUES = 4 };
enum { OF_NUMBERS = 0x08, WITH_VALUES = 0x04 };

struct tree {
    uint64_t root;
    uint32_t value_bytes;
    // `flags` are those of the table; 0 for the values of a key.
    uint16_t depth, flags;
    bool is_of_values;
};

static inline uint16_t u16(const uint8_t *at) {
    uint16_t number;
    memcpy(&number, at, 2);
    return number;
}

static inline uint32_t u32(const uint8_t *at) {
    uint32_t number;
    memcpy(&number, at, 4);
    return number;
}

static inline uint64_t u64(const uint8_t *at) {
    uint64_t number;
    memcpy(&number, at, 8);
    return number;
}

static inline uint64_t child(const uint8_t *entry) { return u64(entry) & 0xffffffffffff; }

static inline struct tree tree_at(const uint8_t *record) {
    return (struct tree){
        .root = u64(record + 40), .value_bytes = u32(record), .depth = u16(record + 6), .flags = u16(record + 4)};
}

static inline bool is_empty(struct tree tree) { return tree.root == UINT64_MAX; }

static inline int count_of(const uint8_t *page) { return (u16(page + 12) - HEAD) / 2; }

static inline const uint8_t *entry_at(const uint8_t *page, int index) { return page + u16(page + HEAD + 2 * index); }

// Returns a negative number if `one` comes first, 0 if both are equal.
static inline int compare(const uint8_t *one, size_t one_count, const uint8_t *other, size_t other_count) {
    int order = memcmp(one, other, one_count < other_count ? one_count : other_count);
    if (order != 0) return order;
    return one_count < other_count ? -1 : one_count > other_count;
}

static inline int compare_keys(uint16_t flags, const uint8_t *key, size_t count, const uint8_t *entry) {
    if (!(flags & OF_NUMBERS)) return compare(key, count, entry + ENTRY, u16(entry + 6));
    uint64_t one = u64(key), other = u64(entry + ENTRY);
    return one < other ? -1 : one > other;
}

#endif
