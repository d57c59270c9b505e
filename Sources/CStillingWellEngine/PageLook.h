// See PageLook.c.
#ifndef PAGE_LOOK_H
#define PAGE_LOOK_H

#include "Pages.h"

#include <lmdb.h>
#include <stdatomic.h>

struct engine_look;

/// The pages of a file as a map has them.
struct page_view {
    const uint8_t *map;
    /// Number of the last page there is.
    uint64_t last;
    /// Pages that the file had when it was opened. Later ones were written by processes that live.
    uint64_t pages;
    /// One bit for each of these pages, set once its entries have been checked. Any thread.
    _Atomic uint64_t *seen;
};

/// A table that has been opened.
struct named_table {
    char *name;
    /// Number of the transaction at whose start `tree` was noted. Guarded by the write lock.
    uint64_t transaction;
    struct tree tree;
};

/// Whether a page is what a tree has at a depth, counted from below: leaves are at 1. Its entries are checked once.
bool look_at_page(const struct page_view *view, uint64_t number, uint16_t depth, struct tree tree);

// - `last`: the number of the file's last page. `most`: how many pages its map has room for.
// NULL where there is no memory.
struct engine_look *look_begin(const void *map, uint64_t last, uint64_t most);
void look_end(struct engine_look *look);
struct page_view look_view(const struct engine_look *look);
// Looks at what each commit changes: the list of free pages and the tree of tables. Once per look, at the cost of `check_free_pages`.
int look_at_tables(struct engine_look *look, uint64_t transaction);
// The tree of a table as a transaction has begun with it; an empty one where `table` is NULL or was not there.
int look_for_tree(struct engine_look *look, uint64_t transaction, struct named_table *table, struct tree *tree);
// Looks at what changing a key may change: the way to it, and the pages beside. 0 or MDB_CORRUPTED. `value` where a key has many.
int look_at_way(
    struct engine_look *look, uint64_t transaction, struct named_table *table, const MDB_val *key, const MDB_val *value);
int look_at_tree(struct engine_look *look, uint64_t transaction, struct named_table *table);

#endif
