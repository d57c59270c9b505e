// See FreePages.c.
#ifndef FREE_PAGES_H
#define FREE_PAGES_H

#include "Pages.h"

/// Checks the list of free pages of one version: the next writes use every page that it names.
/// - `last`: number of the file's last page. `transaction`: number of the transaction that is about to write.
/// - `unused`: tree of free pages, whose own pages have been checked. `tables`: tree of tables.
/// Returns 0, ENGINE_FREE_PAGES or ENOMEM. O(free pages + branch pages + leaves that can refer to further pages).
int check_free_pages(
    const uint8_t *map, uint64_t last, uint64_t transaction, struct tree unused, struct tree tables);

#endif
