#ifndef FC_PUBLISHER_RING_H
#define FC_PUBLISHER_RING_H

#include "client_layout.h"
#include "framecast.h"

#include <stdbool.h>

#define FCI_METADATA_MAX 1024
#define FCI_FORMAT_MAX 1024

/* A publisher's ring of records and its words, which the server maps too. The server's words may be wrong: no value of
 * them makes this process write outside the ring. */
struct fci_ring {
    uint8_t *bytes;
    uint8_t *words;
    int64_t length;
    int64_t committed;
    int64_t consumed;
    /* In the order of the message PUBLISH. */
    int descriptors[4];
};

/* What a record says beside its payload. */
struct fci_record {
    int32_t kind;
    int32_t flags;
    int64_t length;
    int64_t timestamp_ns;
    const void *metadata;
    uint32_t metadata_bytes;
};

/* Bytes of a record. */
int64_t fci_record_bytes(int64_t length, int64_t metadata_bytes);

/* False, with errno: there is no memory or descriptor. The ring is to be freed in any case. */
bool fci_ring_make(struct fci_ring *ring, int64_t length);
void fci_ring_free(struct fci_ring *ring);

/* Looks what the server consumed. False where its word cannot be. */
bool fci_ring_look(struct fci_ring *ring);
bool fci_ring_has_room(const struct fci_ring *ring, int64_t bytes);
/* The payload of the next record. */
uint8_t *fci_ring_payload(const struct fci_ring *ring);
/* Writes the header and metadata of the next record, and commits it. */
void fci_ring_commit(struct fci_ring *ring, const struct fci_record *record);

int fci_ring_state(const struct fci_ring *ring);
int fci_ring_ready(const struct fci_ring *ring);
/* Whether the server adds to this process's counter when it consumes something, or the state changes. */
void fci_ring_sleep(struct fci_ring *ring, bool sleeps);

#endif
