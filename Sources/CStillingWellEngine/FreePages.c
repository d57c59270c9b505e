// LMDB writes to the pages in its list of free pages without a check. A wrong number there would make a later write
// destroy a page that is in use. This file checks the whole list before the first write after opening:
//
// 1. Each record is well formed: pages of the file in descending order, freed by an earlier transaction.
// 2. No page is listed twice.
// 3. No page is listed that a tree reaches: branch and leaf pages, overflow pages, trees of the values of a key.
//
// Leaf pages of a tree are read only where they can refer to further pages: in the trees of free pages and of tables,
// in trees with overflow values, and in indexes until all trees of values of a key are found. The number of pages of
// those is the file's total, less free pages and pages counted by tree records. The numbers of other leaves are in the
// branch pages above them. A damaged branch page hides the pages below it. Reads of that page fail, and the rest of the
// file is checked all the same.
#include "FreePages.h"

#include "CStillingWellEngine.h"

#include <errno.h>
#include <stdlib.h>

struct walk {
    const uint8_t *map;
    uint64_t last;
    // One bit for each page: in `listed` if it is in the list, in `visited` if the walk has read it.
    uint64_t *listed, *visited;
    bool is_listed_in_use;
    // Whether the number of pages of an overflow value is read from its first page. Otherwise it is computed from the
    // value's length, which saves reading a page for each value.
    bool asks_values;
    uint64_t value_pages;
    // Number of pages not yet accounted for by the list or by records of trees. Once all records of tables are read,
    // those of the trees of values of a key.
    uint64_t left;
    // Records of tables that can have trees of values.
    const uint8_t **indexes;
    size_t index_count, index_room;
};

// Number of pages in the record of a tree: branches, leaves and overflow pages.
static uint64_t pages_of(const uint8_t *record) { return u64(record + 8) + u64(record + 16) + u64(record + 24); }

static bool take(uint64_t *bits, uint64_t page) {
    uint64_t bit = 1ull << (page % 64);
    if (bits[page / 64] & bit) return false;
    bits[page / 64] |= bit;
    return true;
}

// MARK: The list

static bool is_record(struct walk *walk, const uint8_t *entry, uint64_t transaction) {
    uint64_t bytes = u32(entry);
    if (u16(entry + 6) != 8 || u64(entry + ENTRY) >= transaction) return false;
    const uint8_t *value = entry + ENTRY + 8;
    if (u16(entry + 4) == HAS_LARGE) value = walk->map + u64(value) * PAGE + HEAD;
    if (bytes < 8 || bytes % 8 != 0 || u64(value) > bytes / 8 - 1) return false;
    uint64_t before = walk->last + 1;
    for (uint64_t index = 1, count = u64(value); index <= count; index++) {
        uint64_t page = u64(value + 8 * index);
        if (page < 2 || page >= before || !take(walk->listed, page)) return false;
        before = page;
    }
    walk->left -= u64(value);
    return true;
}

static bool are_records(struct walk *walk, uint64_t number, uint16_t depth, uint64_t transaction) {
    const uint8_t *page = walk->map + number * PAGE;
    for (int index = 0; index < count_of(page); index++) {
        const uint8_t *entry = entry_at(page, index);
        if (depth > 1 ? !are_records(walk, child(entry), depth - 1, transaction) : !is_record(walk, entry, transaction))
            return false;
    }
    return true;
}

// MARK: Pages in use

static void use(struct walk *walk, uint64_t first, uint64_t count) {
    for (uint64_t page = first; page - first < count && page <= walk->last; page++) {
        if (walk->listed[page / 64] & 1ull << (page % 64)) walk->is_listed_in_use = true;
    }
}

// Branch or leaf page with this number, or NULL if the page is another one or its offsets do not lie in it.
static const uint8_t *page_of(const struct walk *walk, uint64_t number, uint16_t kind) {
    if (number < 2 || number > walk->last) return NULL;
    const uint8_t *page = walk->map + number * PAGE;
    uint16_t lower = u16(page + 12);
    return u64(page) == number && (u16(page + 10) & ~LEFT_DIRTY) == kind && lower >= HEAD && lower <= PAGE ? page : NULL;
}

static void use_value(struct walk *walk, uint64_t first, uint64_t bytes) {
    uint64_t pages = (HEAD + bytes + PAGE - 1) / PAGE;
    if (walk->asks_values && first >= 2 && first <= walk->last) {
        const uint8_t *page = walk->map + first * PAGE;
        if (u64(page) == first && u32(page + 12) > pages) pages = u32(page + 12);
    }
    walk->value_pages += pages;
    use(walk, first, pages);
}

static int walk_table(struct walk *walk, const uint8_t *record);
static int walk_tree(struct walk *walk, uint64_t number, uint16_t depth, bool reads_leaves);

static int walk_leaf(struct walk *walk, const uint8_t *page) {
    for (int index = 0; index < count_of(page); index++) {
        size_t offset = u16(page + HEAD + 2 * index);
        if (offset < HEAD || offset + ENTRY > PAGE) continue;
        const uint8_t *entry = page + offset;
        uint16_t flags = u16(entry + 4);
        if (flags == 0) continue;
        const uint8_t *value = entry + ENTRY + u16(entry + 6);
        size_t room = value < page + PAGE ? (size_t)(page + PAGE - value) : 0;
        int code = 0;
        if (flags == HAS_LARGE && room >= 8) use_value(walk, u64(value), u32(entry));
        if (room < TREE || u32(entry) != TREE) continue;
        struct tree tree = tree_at(value);
        if (flags == HAS_TREE) code = walk_table(walk, value);
        // The values themselves refer to no pages.
        if (flags == (HAS_TREE | HAS_VALUES) && !is_empty(tree)) {
            walk->left -= pages_of(value);
            code = walk_tree(walk, tree.root, tree.depth, false);
        }
        if (code != 0) return code;
    }
    return 0;
}

static int walk_tree(struct walk *walk, uint64_t number, uint16_t depth, bool reads_leaves) {
    use(walk, number, 1);
    if (depth == 0 || depth > MOST_DEPTH || (depth == 1 && !reads_leaves)) return 0;
    const uint8_t *page = page_of(walk, number, depth > 1 ? BRANCH : LEAF);
    // A page that is linked twice is damage, and following it might not end.
    if (!page || !take(walk->visited, number)) return 0;
    if (depth == 1) return walk_leaf(walk, page);
    for (int index = 0; index < count_of(page); index++) {
        size_t offset = u16(page + HEAD + 2 * index);
        if (offset < HEAD || offset + ENTRY > PAGE) continue;
        int code = walk_tree(walk, child(page + offset), depth - 1, reads_leaves);
        if (code != 0) return code;
    }
    return 0;
}

static int keep_index(struct walk *walk, const uint8_t *record) {
    if (walk->index_count == walk->index_room) {
        size_t room = 2 * walk->index_room + 16;
        const uint8_t **indexes = realloc(walk->indexes, room * sizeof(*indexes));
        if (!indexes) return ENOMEM;
        walk->indexes = indexes;
        walk->index_room = room;
    }
    walk->indexes[walk->index_count++] = record;
    return 0;
}

static int by_leaves(const void *one, const void *other) {
    uint64_t first = u64(*(const uint8_t *const *)one + 16), second = u64(*(const uint8_t *const *)other + 16);
    return first < second ? -1 : first > second;
}

// Indexes with few leaf pages are read first: they are likely to have few keys with many values each.
static int walk_indexes(struct walk *walk) {
    if (walk->index_count == 0) return 0;
    qsort(walk->indexes, walk->index_count, sizeof(*walk->indexes), by_leaves);
    int code = 0;
    for (size_t index = 0; code == 0 && index < walk->index_count; index++) {
        struct tree tree = tree_at(walk->indexes[index]);
        code = walk_tree(walk, tree.root, tree.depth, walk->left != 0);
    }
    return code;
}

static int walk_table(struct walk *walk, const uint8_t *record) {
    struct tree tree = tree_at(record);
    if (is_empty(tree)) return 0;
    uint64_t value_pages = u64(record + 24);
    walk->left -= pages_of(record);
    if (tree.flags & WITH_VALUES) return keep_index(walk, record);
    walk->value_pages = 0;
    int code = walk_tree(walk, tree.root, tree.depth, value_pages > 0);
    if (code != 0 || value_pages == 0 || walk->value_pages == value_pages) return code;
    // A value that shrank in the transaction that made it has more pages than its length requires.
    uint64_t *visited = walk->visited;
    walk->visited = calloc(walk->last / 64 + 1, 8);
    if (walk->visited) {
        walk->asks_values = true;
        code = walk_tree(walk, tree.root, tree.depth, true);
        walk->asks_values = false;
        free(walk->visited);
    } else {
        code = ENOMEM;
    }
    walk->visited = visited;
    return code;
}

int check_free_pages(const uint8_t *map, uint64_t transaction, const uint8_t *meta) {
    struct tree unused = tree_at(meta + 40), tables = tree_at(meta + 88);
    if (is_empty(unused)) return 0;
    // Two pages are headers.
    struct walk walk = {.map = map, .last = u64(meta + 136)};
    walk.left = walk.last - 1 - pages_of(meta + 40) - pages_of(meta + 88);
    walk.listed = calloc(walk.last / 64 + 1, 8);
    walk.visited = calloc(walk.last / 64 + 1, 8);
    int code = walk.listed && walk.visited ? 0 : ENOMEM;
    if (code == 0 && !are_records(&walk, unused.root, unused.depth, transaction)) code = ENGINE_FREE_PAGES;
    if (code == 0) code = walk_tree(&walk, unused.root, unused.depth, true);
    if (code == 0 && !is_empty(tables)) code = walk_tree(&walk, tables.root, tables.depth, true);
    if (code == 0) code = walk_indexes(&walk);
    if (code == 0 && walk.is_listed_in_use) code = ENGINE_FREE_PAGES;
    free(walk.indexes);
    free(walk.listed);
    free(walk.visited);
    return code;
}
