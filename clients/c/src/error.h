#ifndef FC_ERROR_H
#define FC_ERROR_H

#include "framecast.h"

/* Writes status and line to an error, which may be NULL. Gives the status. */
__attribute__((format(printf, 3, 4))) fc_status fci_fail(fc_error *error, fc_status status, const char *format, ...);

#endif
