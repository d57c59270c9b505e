// See RangeLook.c.
#ifndef RANGE_LOOK_H
#define RANGE_LOOK_H

#include "CStillingWellEngine.h"
#include "PageLook.h"

/// Unknown number of entries.
#define ANY_NUMBER UINT64_MAX

/// Checks the pages that can hold entries of a range. Returns 0 or MDB_CORRUPTED.
/// - `entries`: number of entries according to the tree's record.
int look_at_range(
    const struct page_view *view, struct tree tree, uint64_t entries, const struct engine_range *range,
    struct engine_entry neighbours[2]);

#endif
