// What a store's processes do to the files of its folder: every write with its bytes, every change of the folder, every flush, in the
// order in which they were done. Linked into a program alone: its own definitions come before those of the C library, so that
// LMDB's calls arrive here first. What is written through a map is not seen; files of locks alone are.
#ifndef CWRITERECORDER_H
#define CWRITERECORDER_H

#include <stdbool.h>
#include <stdint.h>

/// One step of the journal. Its payload follows it; the next one begins at the next multiple of 8.
typedef struct {
    uint32_t kind;
    /// A number of its own for each file that there ever was; 0 for the folder.
    uint32_t file;
    /// Where a write begins, or how long a file becomes.
    uint64_t offset;
    uint64_t payload_bytes;
} wr_step;

enum {
    /// The payload's name leads to the file from here on.
    WR_LINK = 1,
    WR_WRITE,
    /// The same by a descriptor that returns once the bytes are on the disk.
    WR_WRITE_SYNCED,
    WR_TRUNCATE,
    WR_FLUSH_BEGIN,
    WR_FLUSH_END,
    /// The payload is the old name, a zero byte and the new one.
    WR_RENAME,
    WR_UNLINK,
    /// What the program has to say.
    WR_NOTE,
};

/// Makes room for a journal, which children of this process share.
bool wr_reserve(uint64_t bytes);
/// Begins an empty journal of a folder; its path as files are opened by.
void wr_begin(const char *folder);
void wr_end(void);
/// Puts text into the journal.
void wr_note(const char *text);
/// Before a process ends while threads of it still write: what is written is in the journal, and no thread writes any more.
void wr_leave(void);
/// Ends this process, as if it were killed, once it has done so many more steps. Before it has other threads.
void wr_end_process_after(uint64_t steps);
static const uint64_t WR_ANYWHERE = UINT64_MAX;
/// The same once it has done so many steps of a kind, at so many bytes from the beginning of a file.
void wr_end_process_at(uint32_t kind, uint64_t offset, uint64_t count);
/// Has each flush of this process end only when so many more steps were done.
void wr_write_beside_flushes(uint64_t steps);
/// The journal so far, or NULL where it has not found room.
const void *wr_journal(uint64_t *bytes);

/// Has the disk refuse flushes by this error number; 0: none.
void wr_fail_flushes(int error);
/// Whether flushes that begin from here on never end.
void wr_stall_flushes(bool are_stalled);
/// Whether one of them has begun.
bool wr_is_stalled(void);

#endif
