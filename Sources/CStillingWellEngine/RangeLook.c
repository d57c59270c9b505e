// LMDB follows a page number without checking that the page is the expected one. If it is not, the entries of the
// expected page seem to be missing. This file verifies that a range of keys was read whole. Pages that can hold entries
// of the range must have their own number and the right kind, and the first and last key of a leaf must lie between the
// keys that lead to it. The entries of pages that were in the file at opening are checked once.
//
// Pages with unchecked entries may be read, so every offset is checked.
#include "RangeLook.h"

// Key in a page, cut off at the page's end. Empty if it begins outside of the page.
static MDB_val key_at(const uint8_t *page, int index, bool is_of_values) {
    MDB_val key = {.mv_size = 0, .mv_data = (void *)page};
    size_t offset = HEAD + (size_t)index * u16(page + 8);
    if (is_of_values) {
        if (offset + u16(page + 8) <= PAGE) key = (MDB_val){.mv_size = u16(page + 8), .mv_data = (void *)(page + offset)};
        return key;
    }
    offset = u16(page + HEAD + 2 * index);
    if (offset < HEAD || offset + ENTRY > PAGE) return key;
    size_t room = PAGE - offset - ENTRY, count = u16(page + offset + 6);
    return (MDB_val){.mv_size = count < room ? count : room, .mv_data = (void *)(page + offset + ENTRY)};
}

static int compare_values(struct tree tree, const MDB_val *one, const MDB_val *other) {
    if (!(tree.flags & OF_NUMBERS)) return compare(one->mv_data, one->mv_size, other->mv_data, other->mv_size);
    uint64_t first = one->mv_size == 8 ? u64(one->mv_data) : 0, second = other->mv_size == 8 ? u64(other->mv_data) : 0;
    return first < second ? -1 : first > second;
}

// State of the check of one tree.
struct pass {
    const struct page_view *view;
    struct tree tree;
    const struct engine_range *range;
    // Ends of the range in this tree; NULL for an open end.
    const MDB_val *low, *high;
    struct engine_entry *neighbours;
    uint64_t found;
};

// Index of the first key, from `first` on, that is greater than `key`, or with `is_above` false, not less.
static int search(const struct pass *pass, const uint8_t *page, int first, const MDB_val *key, bool is_above, bool is_of_values) {
    int low = first, high = count_of(page);
    while (low < high) {
        int middle = (low + high) / 2;
        MDB_val other = key_at(page, middle, is_of_values);
        int order = compare_values(pass->tree, &other, key);
        if (is_above ? order > 0 : order >= 0) high = middle;
        else low = middle + 1;
    }
    return low;
}

static bool look_at_trees(struct pass *pass, const uint8_t *page);

// Notes an entry. Returns false for one that only the tree of tables may have.
static bool note_entry(struct engine_entry *noted, const uint8_t *page, int index) {
    const uint8_t *entry = page + u16(page + HEAD + 2 * index);
    MDB_val key = key_at(page, index, false);
    const uint8_t *value = (const uint8_t *)key.mv_data + key.mv_size;
    size_t room = (size_t)(page + PAGE - value), count = u32(entry);
    if (key.mv_size == 0) return true;
    if (u16(entry + 4) == HAS_TREE) return false;
    if (count > room) return true;
    if (u16(entry + 4) == HAS_VALUES && count >= HEAD && HEAD + (size_t)u16(value + 8) <= count) {
        count = u16(value + 8);
        value += HEAD;
    } else if (u16(entry + 4) != 0) {
        return true;
    }
    *noted = (struct engine_entry){.key = key, .value = {.mv_size = count, .mv_data = (void *)value}};
    return true;
}

// A damaged key that is still in order lies next to its former place.
static bool note_neighbours(struct pass *pass, const uint8_t *page) {
    struct engine_entry *noted = pass->neighbours;
    if (!noted || pass->tree.is_of_values || noted[0].key.mv_data || noted[1].key.mv_data) return true;
    int index = pass->low ? search(pass, page, 0, pass->low, false, false) : 0;
    return (index == 0 || note_entry(&noted[0], page, index - 1)) &&
           (index == count_of(page) || note_entry(&noted[1], page, index));
}

// - `from`, `below`: lower and upper bound of the keys in the page, from the branch above; NULL for none.
static bool look(struct pass *pass, uint64_t number, uint16_t depth, const MDB_val *from, const MDB_val *below) {
    if (!look_at_page(pass->view, number, depth, pass->tree)) return false;
    const uint8_t *page = pass->view->map + number * PAGE;
    uint16_t lower = u16(page + 12);
    if (lower <= HEAD || lower > PAGE) return false;
    int count = count_of(page);
    if (depth == 1) {
        bool is_of_values = pass->tree.is_of_values;
        MDB_val first = key_at(page, 0, is_of_values), last = key_at(page, count - 1, is_of_values);
        if (from && compare_values(pass->tree, &first, from) < 0) return false;
        if (below && compare_values(pass->tree, &last, below) >= 0) return false;
        pass->found += (uint64_t)count;
        if (!note_neighbours(pass, page)) return false;
        return !(pass->tree.flags & WITH_VALUES) || look_at_trees(pass, page);
    }
    // The first key of a branch is unused.
    int begin = pass->low ? search(pass, page, 1, pass->low, true, false) - 1 : 0;
    for (int index = begin; index < count; index++) {
        MDB_val own = key_at(page, index, false), next = {0};
        if (index > begin && pass->high && compare_values(pass->tree, &own, pass->high) > 0) break;
        if (index + 1 < count) next = key_at(page, index + 1, false);
        size_t offset = u16(page + HEAD + 2 * index);
        if (offset < HEAD || offset + ENTRY > PAGE) return false;
        if (!look(pass, child(page + offset), depth - 1, index > 0 ? &own : from, index + 1 < count ? &next : below))
            return false;
    }
    return true;
}

static bool look_at_root(struct pass *pass, uint64_t entries) {
    struct tree tree = pass->tree;
    if (is_empty(tree)) return tree.depth == 0 && (entries == 0 || entries == ANY_NUMBER);
    return tree.depth > 0 && tree.depth <= MOST_DEPTH && look(pass, tree.root, tree.depth, NULL, NULL);
}

// Checks the trees of values of the leaf's keys that are in the range.
static bool look_at_trees(struct pass *pass, const uint8_t *page) {
    const struct engine_range *range = pass->range;
    int index = pass->low ? search(pass, page, 0, pass->low, false, false) : 0;
    for (; index < count_of(page); index++) {
        MDB_val key = key_at(page, index, false);
        if (pass->high && compare_values(pass->tree, &key, pass->high) > 0) break;
        const uint8_t *entry = (const uint8_t *)key.mv_data - ENTRY;
        if (key.mv_size == 0 || u16(entry + 4) != (HAS_VALUES | HAS_TREE)) continue;
        const uint8_t *record = (const uint8_t *)key.mv_data + key.mv_size;
        if (record + TREE > page + PAGE) return false;
        struct pass values = {.view = pass->view, .tree = tree_at(record)};
        values.tree.flags = 0;
        values.tree.is_of_values = true;
        uint64_t entries = u64(record + 32);
        if (range->counts) {
            if (!look_at_page(values.view, values.tree.root, values.tree.depth, values.tree)) return false;
            continue;
        }
        bool is_end = range->end.key.mv_data && compare_values(pass->tree, &key, &range->end.key) == 0;
        if (is_end) *(range->is_backward ? &values.low : &values.high) = &range->end.value;
        if (!look_at_root(&values, entries) || (!is_end && values.found != entries)) return false;
    }
    return true;
}

int look_at_range(
    const struct page_view *view, struct tree tree, uint64_t entries, const struct engine_range *range,
    struct engine_entry neighbours[2]) {
    struct pass pass = {.view = view, .tree = tree, .range = range, .neighbours = neighbours};
    if (range->low.mv_data) pass.low = &range->low;
    if (range->high.mv_data) pass.high = &range->high;
    return look_at_root(&pass, entries) ? 0 : MDB_CORRUPTED;
}
