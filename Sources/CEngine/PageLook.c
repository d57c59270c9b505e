// A look at the pages that a write is going to change, each once. LMDB's format, data version 1:
//
//     page    0 number (8), 8 bytes of a value (2), 10 kind (2), 12 end of the offsets (2), 14 begin of the entries (2),
//             16 offsets of the entries (2 each), or, of values of one length, the values
//             of a large value: 12 how many pages (4), 16 the value
//     entry   of a leaf: 0 length of the value (4), 4 flags (2), 6 length of the key (2), 8 key, value
//             of a branch: 0 number of the page below (6), 6 length of the key (2), 8 key; the first one's key is below all
//     tree    0 bytes of a value, of values of one length (4), 4 flags (2), 6 depth (2), 40 number of the root (8)
//     meta    40 tree of the free pages, 88 tree of tables, 136 the last page, 144 number of the transaction
//
// With the write lock.
#include "PageLook.h"

#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 16, ENTRY = 8, TREE = 48, MOST_DEPTH = 32 };
enum { BRANCH = 1, LEAF = 2, LARGE = 4, VALUES = 0x20, INSIDE = 0x40, LEFT_DIRTY = 0x10 };
enum { HAS_LARGE = 1, HAS_TREE = 2, HAS_VALUES = 4 };
enum { OF_NUMBERS = 0x08, WITH_VALUES = 0x04 };

struct tree {
    uint64_t root;
    uint32_t value_bytes;
    // Flags are those of a table; 0 of the values of a key.
    uint16_t depth, flags;
    bool is_of_values;
};

struct engine_look {
    const uint8_t *map;
    // Of the file when it was opened; what came later was written by processes that live.
    uint64_t pages;
    // The last page there is now, and how many the map has room for.
    uint64_t last, most;
    bool has_tables;
    uint64_t *seen;
    // By their handles, as many as have been opened: room for all that may be took 25 000 instructions of each opening.
    unsigned int count;
    struct table {
        char *name;
        // Of the transaction that is named, as it began.
        uint64_t transaction;
        struct tree tree;
    } *tables;
};

static uint16_t u16(const uint8_t *at) {
    uint16_t number;
    memcpy(&number, at, 2);
    return number;
}

static uint32_t u32(const uint8_t *at) {
    uint32_t number;
    memcpy(&number, at, 4);
    return number;
}

static uint64_t u64(const uint8_t *at) {
    uint64_t number;
    memcpy(&number, at, 8);
    return number;
}

static uint64_t child(const uint8_t *entry) { return u64(entry) & 0xffffffffffff; }

static struct tree tree_at(const uint8_t *record) {
    return (struct tree){
        .root = u64(record + 40), .value_bytes = u32(record), .depth = u16(record + 6), .flags = u16(record + 4)};
}

static bool is_empty(struct tree tree) { return tree.root == UINT64_MAX; }

static int count_of(const uint8_t *page) { return (u16(page + 12) - HEAD) / 2; }

static const uint8_t *entry_at(const uint8_t *page, int index) { return page + u16(page + HEAD + 2 * index); }

// Negative where the first comes first.
static int compare(const uint8_t *one, size_t one_count, const uint8_t *other, size_t other_count) {
    int order = memcmp(one, other, one_count < other_count ? one_count : other_count);
    if (order != 0) return order;
    return one_count < other_count ? -1 : one_count > other_count;
}

static int compare_keys(uint16_t flags, const uint8_t *key, size_t count, const uint8_t *entry) {
    if (!(flags & OF_NUMBERS)) return compare(key, count, entry + ENTRY, u16(entry + 6));
    uint64_t one = u64(key), other = u64(entry + ENTRY);
    return one < other ? -1 : one > other;
}

// MARK: A page

// Values of one length each, one behind the other.
static bool are_values(const uint8_t *page, size_t bytes) {
    if (bytes < HEAD) return false;
    size_t size = u16(page + 8), lower = u16(page + 12), upper = u16(page + 14);
    if (size == 0 || lower <= HEAD || lower % 2 != 0 || upper < lower) return false;
    size_t count = (lower - HEAD) / 2;
    return HEAD + count * size <= bytes && upper - lower == bytes - HEAD - count * size;
}

static bool is_large(const struct engine_look *look, const uint8_t *entry) {
    uint64_t first = u64(entry + ENTRY + u16(entry + 6));
    if (first < 2 || first > look->last) return false;
    const uint8_t *page = look->map + first * PAGE;
    uint64_t pages = u32(page + 12);
    return u64(page) == first && (u16(page + 10) & ~LEFT_DIRTY) == LARGE && pages > 0 && pages <= look->last - first + 1 &&
           HEAD + (uint64_t)u32(entry) <= pages * PAGE;
}

// How long an entry is; 0 where it is none.
static size_t entry_bytes(const struct engine_look *look, const uint8_t *entry, size_t room, bool is_branch, uint16_t flags) {
    size_t keyed = ENTRY + u16(entry + 6);
    if (keyed > room) return 0;
    if (is_branch) return child(entry) < 2 || child(entry) > look->last ? 0 : keyed;
    if (flags & OF_NUMBERS && keyed != ENTRY + 8) return 0;
    size_t count = u32(entry);
    switch (u16(entry + 4)) {
    case 0: return count <= room - keyed ? keyed + count : 0;
    // A record of a tree, in the tree of tables.
    case HAS_TREE: return count == TREE && count <= room - keyed ? keyed + count : 0;
    case HAS_VALUES | HAS_TREE: return flags & WITH_VALUES && count == TREE && count <= room - keyed ? keyed + count : 0;
    case HAS_VALUES:
        return flags & WITH_VALUES && count <= room - keyed && are_values(entry + keyed, count) ? keyed + count : 0;
    case HAS_LARGE: return room - keyed >= 8 && is_large(look, entry) ? keyed + 8 : 0;
    default: return 0;
    }
}

// Whether each entry lies in its page, none over another and without a gap, and keys ascend.
static bool is_whole(const struct engine_look *look, const uint8_t *page, bool is_branch, uint16_t flags) {
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
        // The first key of a branch is below all, and may be of no length.
        size_t bytes = entry_bytes(look, entry, PAGE - offset, is_branch, flags);
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

// Whether a page is what a tree has at a depth, counted from below: leaves are at 1.
static bool look_at(struct engine_look *look, uint64_t number, uint16_t depth, struct tree tree) {
    if (number < 2 || number > look->last) return false;
    const uint8_t *page = look->map + number * PAGE;
    bool has_values = depth == 1 && tree.is_of_values;
    uint16_t expected = depth > 1 ? BRANCH : has_values ? LEAF | VALUES : LEAF;
    if (u64(page) != number || (u16(page + 10) & ~LEFT_DIRTY) != expected) return false;
    // The engine goes by what the tree says.
    if (has_values && u16(page + 8) != tree.value_bytes) return false;
    if (number >= look->pages) return true;
    uint64_t bit = 1ull << (number % 64);
    if (look->seen[number / 64] & bit) return true;
    if (has_values ? !are_values(page, PAGE) : !is_whole(look, page, depth > 1, tree.flags)) return false;
    look->seen[number / 64] |= bit;
    return true;
}

// MARK: A way

static int way(struct engine_look *look, struct tree tree, const MDB_val *key, const MDB_val *value) {
    if (is_empty(tree)) return tree.depth == 0 ? 0 : MDB_CORRUPTED;
    if (tree.depth == 0 || tree.depth > MOST_DEPTH) return MDB_CORRUPTED;
    uint64_t number = tree.root;
    for (uint16_t depth = tree.depth;; depth--) {
        if (!look_at(look, number, depth, tree)) return MDB_CORRUPTED;
        const uint8_t *page = look->map + number * PAGE;
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
        // Beside it what it may be joined with.
        for (int index = low - 2; index <= low; index += 2) {
            if (index < 0 || index >= count_of(page)) continue;
            if (!look_at(look, child(entry_at(page, index)), depth - 1, tree)) return MDB_CORRUPTED;
        }
        number = child(entry_at(page, low - 1));
    }
}

static int whole(struct engine_look *look, uint64_t number, uint16_t depth, struct tree tree) {
    if (!look_at(look, number, depth, tree)) return MDB_CORRUPTED;
    if (depth == 1) return 0;
    const uint8_t *page = look->map + number * PAGE;
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

// Whether a value of the tree of free pages is how many it lists, and they are pages of the file that are listed once: the engine
// copies them without a look, and would write two values to one page.
static bool are_free(const struct engine_look *look, const uint8_t *entry, uint64_t *listed) {
    uint64_t bytes = u32(entry);
    const uint8_t *value = entry + ENTRY + u16(entry + 6);
    if (u16(entry + 4) == HAS_LARGE) value = look->map + u64(value) * PAGE + HEAD;
    if (bytes < 8 || bytes % 8 != 0 || u64(value) > bytes / 8 - 1) return false;
    for (uint64_t index = 1, count = u64(value); index <= count; index++) {
        uint64_t page = u64(value + 8 * index), bit = 1ull << (page % 64);
        if (page < 2 || page > look->last || listed[page / 64] & bit) return false;
        listed[page / 64] |= bit;
    }
    return true;
}

static bool lists_free(const struct engine_look *look, uint64_t number, uint16_t depth, uint64_t *listed) {
    const uint8_t *page = look->map + number * PAGE;
    for (int index = 0; index < count_of(page); index++) {
        const uint8_t *entry = entry_at(page, index);
        if (depth > 1 ? !lists_free(look, child(entry), depth - 1, listed) : !are_free(look, entry, listed)) return false;
    }
    return true;
}

static int free_pages(struct engine_look *look, struct tree tree) {
    int code = whole_tree(look, tree);
    if (code != 0 || is_empty(tree)) return code;
    uint64_t *listed = calloc(look->last / 64 + 1, 8);
    if (!listed) return ENOMEM;
    code = lists_free(look, tree.root, tree.depth, listed) ? 0 : MDB_CORRUPTED;
    free(listed);
    return code;
}

// The record of a table, as the transaction has begun with it.
static struct tree find(const struct engine_look *look, struct tree tables, const char *name) {
    struct tree none = {.root = UINT64_MAX};
    if (is_empty(tables)) return none;
    size_t count = strlen(name);
    uint64_t number = tables.root;
    for (uint16_t depth = tables.depth; depth > 0; depth--) {
        const uint8_t *page = look->map + number * PAGE;
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

// MARK: From outside

struct engine_look *look_begin(const void *map, uint64_t last, uint64_t most) {
    struct engine_look *look = calloc(1, sizeof(struct engine_look));
    if (!look) return NULL;
    look->map = map;
    look->most = most;
    look->pages = last + 1;
    look->seen = calloc(look->pages / 64 + 1, 8);
    if (look->seen) return look;
    free(look);
    return NULL;
}

void look_end(struct engine_look *look) {
    if (!look) return;
    for (unsigned int table = 0; table < look->count; table++) free(look->tables[table].name);
    free(look->tables);
    free(look->seen);
    free(look);
}

bool look_name(struct engine_look *look, unsigned int table, const char *name) {
    if (table >= look->count) {
        unsigned int count = table + 16;
        struct table *tables = realloc(look->tables, count * sizeof(struct table));
        if (!tables) return false;
        memset(tables + look->count, 0, (count - look->count) * sizeof(struct table));
        look->tables = tables;
        look->count = count;
    }
    struct table *named = &look->tables[table];
    if (named->name && strcmp(named->name, name) == 0) return true;
    // A handle is used again once its table has been deleted.
    free(named->name);
    *named = (struct table){.name = strdup(name)};
    return named->name != NULL;
}

// Of the two meta pages the one that the last transaction has written.
static const uint8_t *meta_before(const struct engine_look *look, uint64_t transaction) {
    return look->map + ((transaction - 1) & 1) * PAGE;
}

int look_at_tables(struct engine_look *look, uint64_t transaction) {
    const uint8_t *meta = meta_before(look, transaction);
    look->last = u64(meta + 136);
    if (u64(meta + 144) != transaction - 1 || look->last >= look->most) return MDB_CORRUPTED;
    if (look->has_tables) return 0;
    struct tree unused = tree_at(meta + 40);
    unused.flags = OF_NUMBERS;
    int code = free_pages(look, unused);
    if (code == 0) code = whole_tree(look, tree_at(meta + 88));
    look->has_tables = code == 0;
    return code;
}

static int tree_of(struct engine_look *look, uint64_t transaction, unsigned int table, struct tree *tree) {
    int code = look_at_tables(look, transaction);
    if (code != 0) return code;
    const uint8_t *meta = meta_before(look, transaction);
    *tree = (struct tree){.root = UINT64_MAX};
    if (table >= look->count || !look->tables[table].name) return 0;
    struct table *named = &look->tables[table];
    if (named->transaction != transaction) {
        named->tree = find(look, tree_at(meta + 88), named->name);
        named->transaction = transaction;
    }
    *tree = named->tree;
    return 0;
}

int look_at_way(
    struct engine_look *look, uint64_t transaction, unsigned int table, const MDB_val *key, const MDB_val *value) {
    struct tree tree;
    int code = tree_of(look, transaction, table, &tree);
    return code != 0 ? code : way(look, tree, key, value);
}

int look_at_tree(struct engine_look *look, uint64_t transaction, unsigned int table) {
    struct tree tree;
    int code = tree_of(look, transaction, table, &tree);
    return code != 0 ? code : whole_tree(look, tree);
}
