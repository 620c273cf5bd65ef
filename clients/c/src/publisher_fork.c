#include "publisher.h"

#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct fc_publisher *first;

static void before(void) {
    pthread_mutex_lock(&lock);
}

static void unlock(void) {
    pthread_mutex_unlock(&lock);
}

static void in_child(void) {
    for (struct fc_publisher *each = first; each != NULL; each = each->sibling) {
        each->forked = true;
        if (each->socket >= 0) {
            close(each->socket);
            each->socket = -1;
        }
    }
    unlock();
}

static void install(void) {
    pthread_atfork(before, unlock, in_child);
}

void fci_publisher_register(struct fc_publisher *publisher) {
    pthread_once(&once, install);
    pthread_mutex_lock(&lock);
    publisher->sibling = first;
    first = publisher;
    pthread_mutex_unlock(&lock);
}

void fci_publisher_unregister(struct fc_publisher *publisher) {
    pthread_mutex_lock(&lock);
    struct fc_publisher **at = &first;
    while (*at != NULL && *at != publisher) {
        at = &(*at)->sibling;
    }
    if (*at != NULL) {
        *at = publisher->sibling;
    }
    pthread_mutex_unlock(&lock);
}
