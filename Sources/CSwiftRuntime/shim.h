#ifndef KINDRED_CSWIFTRUNTIME_SHIM_H
#define KINDRED_CSWIFTRUNTIME_SHIM_H
#include <stdbool.h>

// Exported by Swift's runtime on every platform, and part of its stable ABI: what the language does to read a weak
// reference, without the reference.
extern void *_Nullable swift_tryRetain(void *_Nonnull object);

/// Retains an object, unless it is being deinitialized. Its memory has to be there.
static inline bool kindred_try_retain(void *_Nonnull object) {
    return swift_tryRetain(object) != 0;
}
#endif
