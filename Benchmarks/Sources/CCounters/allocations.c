#include "include/CCounters.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#if defined(__GLIBC__)

#include <malloc.h>

// The executable's malloc takes precedence over the C library's, for every library in the process; the C library keeps
// its own under another name. While nothing is counted a call costs one load more.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *pointer, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_int is_counting;
static atomic_long allocations;

static void count(void) {
    if (atomic_load_explicit(&is_counting, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    }
}

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t elements, size_t size) {
    count();
    return __libc_calloc(elements, size);
}

void *realloc(void *pointer, size_t size) {
    count();
    return __libc_realloc(pointer, size);
}

void *memalign(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **pointer, size_t alignment, size_t size) {
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
    count();
    void *memory = __libc_memalign(alignment, size);
    if (memory == NULL) return ENOMEM;
    *pointer = memory;
    return 0;
}

void counters_begin_allocations(void) {
    atomic_store(&allocations, 0);
    atomic_store(&is_counting, 1);
}

long counters_end_allocations(void) {
    atomic_store(&is_counting, 0);
    return atomic_load(&allocations);
}

#else

void counters_begin_allocations(void) {}

long counters_end_allocations(void) { return -1; }

#endif

long counters_heap_bytes(void) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    struct mallinfo2 info = mallinfo2();
    // Blocks of all arenas, and those that are too large for one.
    return (long)(info.uordblks + info.hblkhd);
#else
    return -1;
#endif
}
