#ifndef FC_CHECK_H
#define FC_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((unused)) static int checks;

/* Ends the test program, with the place and the values. */
#define CHECK(condition)                                                       \
    do {                                                                       \
        checks++;                                                              \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);    \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

#define CHECK_NUMBER(expected, actual)                                                                           \
    do {                                                                                                         \
        long long wanted_ = (long long)(expected);                                                               \
        long long found_ = (long long)(actual);                                                                  \
        checks++;                                                                                                \
        if (wanted_ != found_) {                                                                                 \
            fprintf(stderr, "%s:%d: %s: expected %lld, got %lld\n", __FILE__, __LINE__, #actual, wanted_, found_); \
            exit(1);                                                                                             \
        }                                                                                                        \
    } while (0)

#define CHECK_TEXT(expected, actual)                                                                             \
    do {                                                                                                         \
        checks++;                                                                                                \
        if (strcmp((expected), (actual)) != 0) {                                                                 \
            fprintf(stderr, "%s:%d: expected\n  %s\ngot\n  %s\n", __FILE__, __LINE__, (expected), (actual));     \
            exit(1);                                                                                             \
        }                                                                                                        \
    } while (0)

#endif
