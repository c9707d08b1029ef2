#ifndef KINDRED_CLIBPQ_SHIM_H
#define KINDRED_CLIBPQ_SHIM_H
#include <libpq-fe.h>
#ifdef __linux__
// The poller's system calls, which Swift's own modules of the C library leave out.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#endif
#endif
