#include "clock.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A thread that is preempted between the readings of two clocks must not shift one against the other. */
#define READINGS 3

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* The clock of this process's time namespace less the host's (time_namespaces(7)). */
static int64_t shift_ns;

static void read_shift(void) {
    FILE *offsets = fopen("/proc/self/timens_offsets", "re");
    if (offsets == NULL) {
        return;
    }
    char clock[16];
    long long seconds;
    long long nanos;
    while (fscanf(offsets, "%15s %lld %lld", clock, &seconds, &nanos) == 3) {
        if (strcmp(clock, "monotonic") == 0) {
            shift_ns = seconds * 1000000000 + nanos;
        }
    }
    fclose(offsets);
}

static int64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t fci_host_ns(void) {
    pthread_once(&once, read_shift);
    return read_clock(CLOCK_MONOTONIC) - shift_ns;
}

int64_t fci_calendar_offset_ns(void) {
    int64_t tightest_ns = INT64_MAX;
    int64_t offset_ns = 0;
    for (int i = 0; i < READINGS; i++) {
        int64_t before_ns = fci_host_ns();
        int64_t calendar_ns = read_clock(CLOCK_REALTIME);
        int64_t width_ns = fci_host_ns() - before_ns;
        if (width_ns < tightest_ns) {
            tightest_ns = width_ns;
            offset_ns = calendar_ns - before_ns - width_ns / 2;
        }
    }
    return offset_ns;
}
