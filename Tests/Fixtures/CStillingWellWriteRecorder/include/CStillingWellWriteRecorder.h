// Records what the processes of a store do to the files of its folder, in order: writes with their bytes, changes of
// the folder, and flushes. Its definitions precede those of the C library, so LMDB calls them. Writes through memory
// maps are not recorded. Of a store on disk, only `lock.mdb` and `shared` are written that way.
#ifndef CWRITERECORDER_H
#define CWRITERECORDER_H

#include <stdbool.h>
#include <stdint.h>

/// One step of the journal, followed by its payload. The next step begins at the next multiple of 8 bytes.
typedef struct {
    uint32_t kind;
    /// Number of the file, unique in the journal for up to 4,095 files, or 0 for the folder.
    uint32_t file;
    /// Offset of a write, the new length of a file, or the number of a flush, which its begin and its end share.
    uint64_t offset;
    uint64_t payload_bytes;
} wr_step;

enum {
    /// The name in the payload leads to the file from this step on.
    WR_LINK = 1,
    WR_WRITE,
    /// A write by a descriptor that returns once the bytes are on the disk.
    WR_WRITE_SYNCED,
    WR_TRUNCATE,
    WR_FLUSH_BEGIN,
    WR_FLUSH_END,
    /// The payload has the old name, a zero byte and the new name.
    WR_RENAME,
    WR_UNLINK,
    /// A note of the program.
    WR_NOTE,
};

/// Reserves memory for a journal, which children of this process share.
bool wr_reserve(uint64_t bytes);
/// Begins an empty journal of a folder. The path must be the one by which files are opened.
void wr_begin(const char *folder);
void wr_end(void);
/// Appends a text to the journal.
void wr_note(const char *text);
/// Must be called before a process exits while its threads still write. Completes the journal and stops further writes.
void wr_leave(void);
/// Ends this process with `_exit(0)`, without any clean-up, after about this many further steps. Must be called before
/// it has other threads.
void wr_end_process_after(uint64_t steps);
static const uint64_t WR_ANYWHERE = UINT64_MAX;
/// Ends this process after it recorded this many steps of a kind at this offset of any file, or anywhere
/// (`WR_ANYWHERE`).
void wr_end_process_at(uint32_t kind, uint64_t offset, uint64_t count);
/// Lets each flush of this process end only after this many further steps.
void wr_write_beside_flushes(uint64_t steps);
/// Returns the journal so far, or NULL if it has run out of memory.
const void *wr_journal(uint64_t *bytes);

/// Lets flushes fail with this error number. 0: no failure.
void wr_fail_flushes(int error);
/// Sets whether flushes that begin from now on never end.
void wr_stall_flushes(bool are_stalled);
/// Whether such a flush has begun.
bool wr_is_stalled(void);

#endif
