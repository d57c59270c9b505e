// Checks the pages that a write may change, and the list of free pages. Requires the write lock, except for
// `look_at_page` and `look_view`.
#include "PageLook.h"

#include "CStillingWellEngine.h"
#include "FreePages.h"

#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

struct engine_look {
    struct page_view view;
    // Number of pages that the map has room for.
    uint64_t most;
    bool has_tables;
    // Result of the check of the list of free pages, valid if `knows_free`.
    bool knows_free;
    int free_code;
};

// MARK: A page

// Returns whether bytes are valid values of equal length, stored without gaps.
static bool are_values(const uint8_t *page, size_t bytes) {
    if (bytes < HEAD) return false;
    size_t size = u16(page + 8), lower = u16(page + 12), upper = u16(page + 14);
    if (size == 0 || lower <= HEAD || lower % 2 != 0 || upper < lower) return false;
    size_t count = (lower - HEAD) / 2;
    return HEAD + count * size <= bytes && upper - lower == bytes - HEAD - count * size;
}

static bool is_large(const struct page_view *view, const uint8_t *entry) {
    uint64_t first = u64(entry + ENTRY + u16(entry + 6));
    if (first < 2 || first > view->last) return false;
    const uint8_t *page = view->map + first * PAGE;
    uint64_t pages = u32(page + 12);
    return u64(page) == first && (u16(page + 10) & ~LEFT_DIRTY) == LARGE && pages > 0 && pages <= view->last - first + 1 &&
           HEAD + (uint64_t)u32(entry) <= pages * PAGE;
}

// Length of an entry, or 0 if it is invalid.
static size_t entry_bytes(const struct page_view *view, const uint8_t *entry, size_t room, bool is_branch, uint16_t flags) {
    size_t keyed = ENTRY + u16(entry + 6);
    if (keyed > room) return 0;
    if (is_branch) return child(entry) < 2 || child(entry) > view->last ? 0 : keyed;
    if (flags & OF_NUMBERS && keyed != ENTRY + 8) return 0;
    size_t count = u32(entry);
    switch (u16(entry + 4)) {
    case 0: return count <= room - keyed ? keyed + count : 0;
    // A record of a tree, in the tree of tables.
    case HAS_TREE: return count == TREE && count <= room - keyed ? keyed + count : 0;
    case HAS_VALUES | HAS_TREE: return flags & WITH_VALUES && count == TREE && count <= room - keyed ? keyed + count : 0;
    case HAS_VALUES:
        return flags & WITH_VALUES && count <= room - keyed && are_values(entry + keyed, count) ? keyed + count : 0;
    case HAS_LARGE: return room - keyed >= 8 && is_large(view, entry) ? keyed + 8 : 0;
    default: return 0;
    }
}

// Returns whether all entries lie in the page, begin at different offsets and have the length of its used part in sum,
// and keys ascend. False for a branch with fewer than two entries.
static bool is_whole(const struct page_view *view, const uint8_t *page, bool is_branch, uint16_t flags) {
    size_t lower = u16(page + 12), upper = u16(page + 14);
    if (lower <= HEAD || lower % 2 != 0 || lower > upper || upper > PAGE) return false;
    int count = count_of(page);
    if (is_branch && count < 2) return false;
    uint64_t begins[PAGE / 2 / 64] = {0};
    size_t used = 0;
    for (int index = 0; index < count; index++) {
        size_t offset = u16(page + HEAD + 2 * index);
        if (offset < upper || offset + ENTRY > PAGE || offset % 2 != 0) return false;
        const uint8_t *entry = page + offset;
        // The first key of a branch is below all others, and may be empty.
        size_t bytes = entry_bytes(view, entry, PAGE - offset, is_branch, flags);
        uint64_t bit = 1ull << (offset / 2 % 64);
        if (bytes == 0 || begins[offset / 2 / 64] & bit) return false;
        begins[offset / 2 / 64] |= bit;
        used += (bytes + 1) & ~(size_t)1;
        if (is_branch && index > 0 && flags & OF_NUMBERS && u16(entry + 6) != 8) return false;
        if (index < 1 + is_branch) continue;
        const uint8_t *last = entry_at(page, index - 1);
        if (compare_keys(flags, last + ENTRY, u16(last + 6), entry) >= 0) return false;
    }
    return used == PAGE - upper;
}

bool look_at_page(const struct page_view *view, uint64_t number, uint16_t depth, struct tree tree) {
    if (number < 2 || number > view->last) return false;
    const uint8_t *page = view->map + number * PAGE;
    bool has_values = depth == 1 && tree.is_of_values;
    uint16_t expected = depth > 1 ? BRANCH : has_values ? LEAF | VALUES : LEAF;
    if (u64(page) != number || (u16(page + 10) & ~LEFT_DIRTY) != expected) return false;
    // LMDB takes the length of values from the tree's record.
    if (has_values && u16(page + 8) != tree.value_bytes) return false;
    if (number >= view->pages) return true;
    uint64_t bit = 1ull << (number % 64);
    _Atomic uint64_t *seen = &view->seen[number / 64];
    if (atomic_load_explicit(seen, memory_order_relaxed) & bit) return true;
    if (has_values ? !are_values(page, PAGE) : !is_whole(view, page, depth > 1, tree.flags)) return false;
    atomic_fetch_or_explicit(seen, bit, memory_order_relaxed);
    return true;
}

// MARK: A path through a tree

static int way(struct engine_look *look, struct tree tree, const MDB_val *key, const MDB_val *value) {
    if (is_empty(tree)) return tree.depth == 0 ? 0 : MDB_CORRUPTED;
    if (tree.depth == 0 || tree.depth > MOST_DEPTH) return MDB_CORRUPTED;
    uint64_t number = tree.root;
    for (uint16_t depth = tree.depth;; depth--) {
        if (!look_at_page(&look->view, number, depth, tree)) return MDB_CORRUPTED;
        const uint8_t *page = look->view.map + number * PAGE;
        if (depth == 1 && (!(tree.flags & WITH_VALUES) || !value)) return 0;
        int low = depth > 1, high = count_of(page);
        while (low < high) {
            int middle = (low + high) / 2;
            int order = compare_keys(tree.flags, key->mv_data, key->mv_size, entry_at(page, middle));
            if (depth > 1 ? order < 0 : order <= 0) high = middle;
            else low = middle + 1;
        }
        if (depth == 1) {
            if (low == count_of(page)) return 0;
            const uint8_t *entry = entry_at(page, low);
            if (u16(entry + 4) != (HAS_VALUES | HAS_TREE)) return 0;
            if (compare_keys(tree.flags, key->mv_data, key->mv_size, entry) != 0) return 0;
            struct tree values = tree_at(entry + ENTRY + u16(entry + 6));
            values.flags = 0;
            values.is_of_values = true;
            return way(look, values, value, NULL);
        }
        // LMDB may merge the page with the pages beside it.
        for (int index = low - 2; index <= low; index += 2) {
            if (index < 0 || index >= count_of(page)) continue;
            if (!look_at_page(&look->view, child(entry_at(page, index)), depth - 1, tree)) return MDB_CORRUPTED;
        }
        number = child(entry_at(page, low - 1));
    }
}

static int whole(struct engine_look *look, uint64_t number, uint16_t depth, struct tree tree) {
    if (!look_at_page(&look->view, number, depth, tree)) return MDB_CORRUPTED;
    if (depth == 1) return 0;
    const uint8_t *page = look->view.map + number * PAGE;
    for (int index = 0; index < count_of(page); index++) {
        int code = whole(look, child(entry_at(page, index)), depth - 1, tree);
        if (code != 0) return code;
    }
    return 0;
}

static int whole_tree(struct engine_look *look, struct tree tree) {
    if (is_empty(tree)) return 0;
    return tree.depth == 0 || tree.depth > MOST_DEPTH ? MDB_CORRUPTED : whole(look, tree.root, tree.depth, tree);
}

// Tree of a table at the begin of the transaction, empty if there is none.
static struct tree find(const struct engine_look *look, struct tree tables, const char *name) {
    struct tree none = {.root = UINT64_MAX};
    if (is_empty(tables)) return none;
    size_t count = strlen(name);
    uint64_t number = tables.root;
    for (uint16_t depth = tables.depth; depth > 0; depth--) {
        const uint8_t *page = look->view.map + number * PAGE;
        int index = depth > 1;
        while (index < count_of(page)) {
            const uint8_t *entry = entry_at(page, index);
            int order = compare((const uint8_t *)name, count, entry + ENTRY, u16(entry + 6));
            if (depth == 1 && order == 0) return tree_at(entry + ENTRY + count);
            if (order < 0) break;
            index++;
        }
        if (depth > 1) number = child(entry_at(page, index - 1));
    }
    return none;
}

// MARK: Functions of PageLook.h

struct engine_look *look_begin(const void *map, uint64_t last, uint64_t most) {
    struct engine_look *look = calloc(1, sizeof(struct engine_look));
    if (!look) return NULL;
    look->most = most;
    look->view = (struct page_view){.map = map, .pages = last + 1};
    look->view.seen = calloc(look->view.pages / 64 + 1, 8);
    if (look->view.seen) return look;
    free(look);
    return NULL;
}

void look_end(struct engine_look *look) {
    if (!look) return;
    free(look->view.seen);
    free(look);
}

struct page_view look_view(const struct engine_look *look) { return look->view; }

// Meta page that the previous transaction has written.
static const uint8_t *meta_before(const struct engine_look *look, uint64_t transaction) {
    return look->view.map + ((transaction - 1) & 1) * PAGE;
}

int look_at_tables(struct engine_look *look, uint64_t transaction) {
    const uint8_t *meta = meta_before(look, transaction);
    look->view.last = u64(meta + 136);
    if (u64(meta + 144) != transaction - 1 || look->view.last >= look->most) return MDB_CORRUPTED;
    if (look->has_tables) return 0;
    struct tree unused = tree_at(meta + 40), tables = tree_at(meta + 88);
    unused.flags = OF_NUMBERS;
    int code = whole_tree(look, unused);
    if (code == 0) code = whole_tree(look, tables);
    if (code == 0 && !look->knows_free) {
        code = look->free_code = check_free_pages(look->view.map, transaction, meta);
        look->knows_free = code != ENOMEM;
    }
    if (code == 0) code = look->free_code;
    look->has_tables = code == 0;
    return code;
}

int look_for_tree(struct engine_look *look, uint64_t transaction, struct named_table *table, struct tree *tree) {
    int code = look_at_tables(look, transaction);
    if (code != 0) return code;
    *tree = (struct tree){.root = UINT64_MAX};
    if (!table) return 0;
    if (table->transaction != transaction) {
        table->tree = find(look, tree_at(meta_before(look, transaction) + 88), table->name);
        table->transaction = transaction;
    }
    *tree = table->tree;
    return 0;
}

int look_at_way(
    struct engine_look *look, uint64_t transaction, struct named_table *table, const MDB_val *key, const MDB_val *value) {
    struct tree tree;
    int code = look_for_tree(look, transaction, table, &tree);
    return code != 0 ? code : way(look, tree, key, value);
}

int look_at_tree(struct engine_look *look, uint64_t transaction, struct named_table *table) {
    struct tree tree;
    int code = look_for_tree(look, transaction, table, &tree);
    return code != 0 ? code : whole_tree(look, tree);
}
