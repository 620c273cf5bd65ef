#ifndef FC_CLOCK_H
#define FC_CLOCK_H

#include <stdint.h>

/* The monotonic clock that all processes of a host share, also those of other time namespaces, ns. */
int64_t fci_host_ns(void);
/* The calendar's clock, as this process sees it, less that. */
int64_t fci_calendar_offset_ns(void);

#endif
