// Replacements of functions of the C library, which inject faults into a store. Only the harness links them. A program's
// own definitions come before those of its libraries, so a store's calls arrive here. Without a fault they only forward
// the call.
#ifndef CFAULTS_H
#define CFAULTS_H

#include <stdbool.h>
#include <stdint.h>

/// Returns whether calls arrive here. False in a build with a sanitizer, which has its own replacements.
bool cf_is_in_place(void);
/// Delays every flush of a file or of mapped memory by `ns`; 0 for no delay.
void cf_set_flush_delay_ns(int64_t ns);
/// Returns the number of flushes since the program began.
uint64_t cf_flush_count(void);
/// Sets the offset of this process's wall clock from the machine's, in ns; rounded towards 0 to whole seconds.
void cf_step_wall_clock_ns(int64_t ns);

#endif
