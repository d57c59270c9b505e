// See FreePages.c.
#ifndef FREE_PAGES_H
#define FREE_PAGES_H

#include "Pages.h"

/// Checks the list of free pages of a version, because later writes overwrite the pages in it.
/// - `transaction`: number of the transaction that is about to write.
/// - `meta`: header of the version. Each page of its tree of free pages has been checked.
/// Returns 0, ENGINE_FREE_PAGES or ENOMEM.
int check_free_pages(const uint8_t *map, uint64_t transaction, const uint8_t *meta);

#endif
