#ifndef FC_KEY_H
#define FC_KEY_H

#include "framecast.h"

#include <stdbool.h>

/* What processes of a host compare to know that they have the same key (docs/host-segment.md, "Meeting"): of the first
 * key in the file of `psk:FILE` or `keys:FILE`. At a publisher `keys:DIRECTORY` has none, and the tag is empty. */
fc_status fci_key_tag(const char *setting, bool publishes, char tag[17], fc_error *error);

#endif
