// Functions of the C library that tests of a store want to be worse than they are. Linked into the harness alone: a program's
// own definitions come before those of the libraries it uses, so that a store's calls arrive here first. Without a fault set
// each is the system call it stands for.
#ifndef CFAULTS_H
#define CFAULTS_H

#include <stdbool.h>
#include <stdint.h>

/// Whether calls arrive here at all. Not in a build with a sanitizer, which puts functions of its own in these places.
bool cf_is_in_place(void);
/// Lets every flush of a file or of mapped memory to the disk take so much longer. 0: none.
void cf_set_flush_delay_ns(int64_t ns);
/// How many flushes there have been since the program began.
uint64_t cf_flush_count(void);
/// Sets the wall clock of this process apart from the machine's. 0: none.
void cf_step_wall_clock_ns(int64_t ns);

#endif
