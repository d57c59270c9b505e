// See PageLook.c.
#ifndef PAGE_LOOK_H
#define PAGE_LOOK_H

#include "Pages.h"

#include <lmdb.h>
#include <stdatomic.h>

struct engine_look;

/// Mapped pages of a file.
struct page_view {
    const uint8_t *map;
    /// Number of the file's last page.
    uint64_t last;
    /// Number of pages when the file was opened. Pages beyond were written by living processes.
    uint64_t pages;
    /// One bit for each of these pages, set once its entries have been checked. Any thread.
    _Atomic uint64_t *seen;
};

/// A table that has been opened.
struct named_table {
    char *name;
    /// Transaction at whose begin `tree` was read. Guarded by the write lock.
    uint64_t transaction;
    struct tree tree;
};

/// Returns whether a page is the expected one of a tree at a depth; leaves are at depth 1. Checks the entries of a page
/// that was in the file at opening, once.
bool look_at_page(const struct page_view *view, uint64_t number, uint16_t depth, struct tree tree);

// - `last`: number of the file's last page. `most`: number of pages that its map has room for.
// Returns NULL if there is no memory.
struct engine_look *look_begin(const void *map, uint64_t last, uint64_t most);
void look_end(struct engine_look *look);
struct page_view look_view(const struct engine_look *look);
// Checks the pages that each commit changes: the list of free pages, with `check_free_pages`, and the tree of tables.
// Once they are found good, later calls check only the header.
int look_at_tables(struct engine_look *look, uint64_t transaction);
// Tree of a table at the begin of a transaction, empty if `table` is NULL or did not exist.
int look_for_tree(struct engine_look *look, uint64_t transaction, struct named_table *table, struct tree *tree);
// Checks the pages that changing a key may change: its path and the pages beside it. `value`: for a table with several
// values per key.
int look_at_way(
    struct engine_look *look, uint64_t transaction, struct named_table *table, const MDB_val *key, const MDB_val *value);
int look_at_tree(struct engine_look *look, uint64_t transaction, struct named_table *table);

#endif
