/* The child of a fork has copies of the connections, and of the locks, by which leaders would take its parent for
 * alive, and of the mappings. It closes the former and changes nothing in the latter. */
#include "subscriber.h"

#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct fc_subscriber *first;

static void before(void) {
    pthread_mutex_lock(&lock);
    for (struct fc_subscriber *each = first; each != NULL; each = each->sibling) {
        pthread_mutex_lock(&each->mutex);
        if (each->segment != NULL) {
            fci_keep_pin(each->segment);
        }
    }
}

static void unlock(void) {
    for (struct fc_subscriber *each = first; each != NULL; each = each->sibling) {
        pthread_mutex_unlock(&each->mutex);
    }
    pthread_mutex_unlock(&lock);
}

static void cut(struct fci_connection *connection) {
    if (connection != NULL && connection->socket >= 0) {
        close(connection->socket);
        connection->socket = -1;
    }
}

static void disown(struct fci_segment *segment) {
    for (; segment != NULL; segment = segment->later) {
        segment->foreign = true;
        if (segment->life >= 0) {
            close(segment->life);
            segment->life = -1;
        }
        cut(segment->connection);
    }
}

static void in_child(void) {
    for (struct fc_subscriber *each = first; each != NULL; each = each->sibling) {
        each->forked = true;
        disown(each->segment);
        disown(each->coming);
        disown(each->membership.newest);
        disown(each->membership.past);
        cut(each->membership.connection);
    }
    unlock();
}

static void install(void) {
    pthread_atfork(before, unlock, in_child);
}

void fci_register(struct fc_subscriber *subscriber) {
    pthread_once(&once, install);
    pthread_mutex_lock(&lock);
    subscriber->sibling = first;
    first = subscriber;
    pthread_mutex_unlock(&lock);
}

void fci_unregister(struct fc_subscriber *subscriber) {
    pthread_mutex_lock(&lock);
    struct fc_subscriber **at = &first;
    while (*at != NULL && *at != subscriber) {
        at = &(*at)->sibling;
    }
    if (*at != NULL) {
        *at = subscriber->sibling;
    }
    pthread_mutex_unlock(&lock);
}
