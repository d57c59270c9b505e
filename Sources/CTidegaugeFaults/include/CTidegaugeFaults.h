// Replacements of functions of the C library, which inject faults into a store. Only the harness links them. A program's
// own definitions come before those of its libraries, so a store's calls arrive here. Without a fault they only count
// flushes and forward the call.
#ifndef CFAULTS_H
#define CFAULTS_H

#include <stdbool.h>
#include <stdint.h>

/// Returns whether calls arrive here. False in a build with a sanitizer, which has its own replacements.
bool cf_is_in_place(void);
/// Delays every `fsync`, `fdatasync` and synchronous `msync` by `ns`; 0 for no delay.
void cf_set_flush_delay_ns(int64_t ns);
/// Returns the number of these calls since the program began; 0 if calls do not arrive here.
uint64_t cf_flush_count(void);
/// Sets the offset in ns that `clock_gettime` adds to the wall clock; rounded towards 0 to whole seconds.
void cf_step_wall_clock_ns(int64_t ns);

#endif
