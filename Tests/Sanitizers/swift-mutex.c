// Shows the Thread Sanitizer the slow half of Swift's Mutex, which is in a library that is not instrumented: on Linux a
// mutex that two threads want at once is handed over there, and every access under it would be reported as a race.
//
// Preloaded by bin/sanitize; without the sanitizer's functions it changes nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT void (*Lock)(uint32_t thread, SELF);
typedef SWIFT bool (*TryLock)(SELF);
typedef SWIFT void (*Unlock)(SELF);

SWIFT void lockSlow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool tryLockSlow(SELF) __asm__(TRY_LOCK);
SWIFT void unlockSlow(SELF) __asm__(UNLOCK);

SWIFT void lockSlow(uint32_t thread, SELF) {
    ((Lock)dlsym(RTLD_NEXT, LOCK))(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT bool tryLockSlow(SELF) {
    bool isLocked = ((TryLock)dlsym(RTLD_NEXT, TRY_LOCK))(self);
    if (isLocked && __tsan_acquire) __tsan_acquire(self);
    return isLocked;
}

SWIFT void unlockSlow(SELF) {
    if (__tsan_release) __tsan_release(self);
    ((Unlock)dlsym(RTLD_NEXT, UNLOCK))(self);
}
