// See PageLook.c.
#ifndef PAGE_LOOK_H
#define PAGE_LOOK_H

#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>

enum { PAGE = 4096 };

struct engine_look;

// - `last`: the number of the file's last page. `most`: how many pages its map has room for.
// NULL where there is no memory.
struct engine_look *look_begin(const void *map, uint64_t last, uint64_t most);
void look_end(struct engine_look *look);
// What a handle is called from here on; false where there is no memory.
bool look_name(struct engine_look *look, unsigned int table, const char *name);
// Looks at what each commit changes: the lists of free pages and the tree of tables. O(free pages), once.
int look_at_tables(struct engine_look *look, uint64_t transaction);
// Looks at what changing a key may change: the way to it, and the pages beside. 0 or MDB_CORRUPTED. `value` where a key has many.
int look_at_way(struct engine_look *look, uint64_t transaction, unsigned int table, const MDB_val *key, const MDB_val *value);
int look_at_tree(struct engine_look *look, uint64_t transaction, unsigned int table);

#endif
