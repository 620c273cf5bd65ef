#ifndef FC_URI_H
#define FC_URI_H

#include "framecast.h"

#include <stdbool.h>

/* Codes of docs/protocol.md: the low half of the field in HELLO. */
enum fci_delivery { FCI_RELIABLE = 0, FCI_DEADLINE = 1, FCI_LATEST = 2 };

/* What a follower needs to know of a channel. */
struct fci_channel {
    /* `auto`, or a provider's name. */
    char transport[33];
    char name[65];
    /* As it was written: the address with brackets for IPv6, `:` and the port. */
    char group[96];
    char interface_name[64];
    char host_group[65];
    long frames_held;
    int64_t ring_bytes;
    int attach_after_ms;
    /* One leader for each NUMA node. */
    bool by_socket;
    enum fci_delivery delivery;
    int patience_ms;
    /* Frames in front of a session's first keyframe are passed over. */
    bool from_keyframe;
    /* How long a source that was lost is waited for. */
    int64_t rejoin_ms;
    /* 0: not given. */
    int64_t frame_max;
    /* −1: none. */
    int cuda_device;
    /* Of the key of `auth=`; empty without. */
    char key_tag[17];
    /* `auto` with a key alone, `none` without a key and with `payloads=unprotected`. */
    char cipher[24];
    /* placement=shared: frames may be read in another process's device memory. */
    bool reads_in_place;
};

fc_status fci_parse(const char *uri, struct fci_channel *channel, fc_error *error);
/* The same for a publisher, to whom keys of subscribers mean nothing. */
fc_status fci_parse_published(const char *uri, struct fci_channel *channel, fc_error *error);

#endif
