#ifndef KINDRED_BENCHMARKS_CCOUNTERS_H
#define KINDRED_BENCHMARKS_CCOUNTERS_H

// What a piece of work costs that comes out the same each time: heap allocations and instructions, of all threads.

/// Begins to count allocations anew: calls of malloc and its relatives, each realloc as one.
void counters_begin_allocations(void);

/// Ends counting; returns the number of allocations, or -1 where they cannot be counted (anywhere but with glibc).
long counters_end_allocations(void);

/// The bytes of the heap that are in use, or -1 where that cannot be found out.
long counters_heap_bytes(void);

/// Whether the process runs under callgrind, which counts instructions.
int counters_has_instructions(void);

/// Begins to count instructions anew.
void counters_begin_instructions(void);

/// Ends counting; callgrind writes the count to a file of its own, with this name in it.
void counters_end_instructions(const char *name);

#endif
