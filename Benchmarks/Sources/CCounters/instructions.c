#include "include/CCounters.h"

#if __has_include(<valgrind/callgrind.h>)

#include <valgrind/callgrind.h>

int counters_has_instructions(void) { return RUNNING_ON_VALGRIND > 0; }

void counters_begin_instructions(void) {
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
}

void counters_end_instructions(const char *name) {
    CALLGRIND_DUMP_STATS_AT(name);
    CALLGRIND_STOP_INSTRUMENTATION;
}

#else

int counters_has_instructions(void) { return 0; }

void counters_begin_instructions(void) {}

void counters_end_instructions(const char *name) { (void)name; }

#endif
