/* Reads frames in the rings of its leaders, one segment after the other, when the user polls. */
#include "clock.h"
#include "error.h"
#include "subscriber.h"

static bool drops(const struct fc_subscriber *subscriber) {
    return subscriber->channel.delivery != FCI_RELIABLE;
}

/* Of frames that were gone before this subscriber came to them. */
static fc_loss_reason too_late(const struct fc_subscriber *subscriber) {
    switch (subscriber->channel.delivery) {
    case FCI_LATEST: return FC_LOSS_SUPERSEDED;
    case FCI_DEADLINE: return FC_LOSS_UNREPAIRABLE;
    default: return FC_LOSS_NOT_A_MEMBER;
    }
}

/* Of the frame table of this leader no sense can be made: it holds no one up, and its user reads no more. */
static void fail(struct fc_subscriber *subscriber, const char *what, int64_t number) {
    fc_error why;
    fci_fail(&why, FC_E_BROKEN, "host group: entry %lld of the frame table of the leader (process %d) %s; restart it",
             (long long)number, (int)subscriber->segment->connection->leader, what);
    fci_end(subscriber, &why);
}

static void report(struct fc_subscriber *subscriber, uint64_t session, uint64_t first, uint64_t count, fc_loss_reason why) {
    subscriber->stats.lost[why] += count;
    subscriber->lost[why] += count;
    if (subscriber->options.on_loss != NULL) {
        subscriber->options.on_loss(subscriber->options.context, session, first, count, why);
    }
}

/* Published in the same session while this subscriber had no leader, or gone before it came to them. */
static void report_missed(struct fc_subscriber *subscriber, uint64_t session, uint64_t number) {
    uint64_t first = subscriber->next_number;
    if (session == subscriber->session && number > first) {
        subscriber->next_number = number;
        report(subscriber, session, first, number - first, too_late(subscriber));
    }
}

static void report_loss(struct fc_subscriber *subscriber, uint64_t first, uint64_t count, fc_loss_reason why) {
    uint64_t session = subscriber->segment->session;
    report_missed(subscriber, session, first);
    subscriber->session = session;
    subscriber->next_number = first + count;
    report(subscriber, session, first, count, why);
    subscriber->choice.awaits_keyframe |= why != FC_LOSS_SUPERSEDED;
}

/* Whether it was read in the ring of an earlier leader. */
static bool is_known(const struct fc_subscriber *subscriber, uint64_t number) {
    return subscriber->segment->session == subscriber->session && number < subscriber->next_number;
}

static bool is_too_old(const struct fc_subscriber *subscriber, const struct fci_entry *entry) {
    const struct fci_segment *segment = subscriber->segment;
    if (fci_clock_error(segment) == INT64_MAX) {
        return false;
    }
    /* Words of another process: the sums may wrap. */
    uint64_t source_now = (uint64_t)fci_host_ns() + (uint64_t)fci_source_clock(segment);
    int64_t age = (int64_t)(source_now - (uint64_t)entry->timestamp_ns);
    return age >= (int64_t)subscriber->channel.patience_ms * 1000000;
}

/* The newest entry at which a subscriber may begin: the newest keyframe where frames are marked. */
static void look_ahead(struct fc_subscriber *subscriber, int64_t number) {
    struct fci_choice *choice = &subscriber->choice;
    if (choice->looked < number) {
        /* Entries in between are gone. */
        choice->awaits_keyframe = true;
        choice->looked = number;
    }
    int64_t published = fci_published(subscriber->segment);
    /* Any number: the sum may not wrap. */
    int64_t end = published - number < FC_LAYOUT_ENTRIES ? published : number + FC_LAYOUT_ENTRIES;
    for (; choice->looked < end; choice->looked++) {
        struct fci_entry entry;
        if (fci_read(subscriber->segment, choice->looked, &entry) && !entry.is_loss) {
            choice->keyed |= entry.keyframe;
            choice->newest = !choice->keyed || entry.keyframe ? choice->looked : choice->newest;
        }
    }
}

/* Whether a frame is not given to the user, and why. */
static bool is_outdated(struct fc_subscriber *subscriber, int64_t number, const struct fci_entry *entry, fc_loss_reason *why) {
    struct fci_choice *choice = &subscriber->choice;
    if (subscriber->channel.delivery == FCI_DEADLINE) {
        *why = FC_LOSS_EXPIRED;
        return is_too_old(subscriber, entry);
    }
    look_ahead(subscriber, number);
    if (choice->newest > number) {
        *why = FC_LOSS_SUPERSEDED;
        return true;
    }
    if (choice->awaits_keyframe && choice->keyed && !entry->keyframe) {
        *why = FC_LOSS_AWAITS_KEYFRAME;
        return true;
    }
    choice->awaits_keyframe = false;
    return false;
}

/* Takes and reports the frames in front that the policy drops; whether there were any. */
static bool skip_outdated(struct fc_subscriber *subscriber) {
    struct fci_segment *segment = subscriber->segment;
    if (!drops(subscriber)) {
        return false;
    }
    if (segment->session != subscriber->session) {
        subscriber->session = segment->session;
        subscriber->next_number = fci_first_frame(segment);
    }
    uint64_t first = 0;
    uint64_t count = 0;
    fc_loss_reason reason = FC_LOSS_SUPERSEDED;
    for (int64_t number = fci_peek(segment); number >= 0; number = fci_peek(segment)) {
        struct fci_entry entry;
        fc_loss_reason found;
        if (!fci_read(segment, number, &entry) || entry.is_loss || is_known(subscriber, entry.number)
            || !is_outdated(subscriber, number, &entry, &found)) {
            break;
        }
        bool joins = count == 0 || (found == reason && entry.number == first + count);
        if (!joins || !fci_is_intact(segment, number)) {
            break;
        }
        reason = found;
        first = count == 0 ? entry.number : first;
        count++;
        fci_take(segment);
        fci_release(segment, number);
    }
    if (count > 0) {
        report_loss(subscriber, first, count, reason);
    }
    return count > 0;
}

/* Passes over what is in front of the session's first keyframe; whether there was anything. It is not lost: this
 * subscriber begins at the keyframe. */
static bool skip_to_keyframe(struct fc_subscriber *subscriber) {
    struct fci_segment *segment = subscriber->segment;
    bool begun = subscriber->begun && subscriber->begun_session == segment->session;
    if (!subscriber->channel.from_keyframe || begun) {
        return false;
    }
    uint64_t first = 0;
    uint64_t count = 0;
    for (int64_t number = fci_peek(segment); number >= 0; number = fci_peek(segment)) {
        struct fci_entry entry;
        if (!fci_read(segment, number, &entry) || entry.is_loss || is_known(subscriber, entry.number)
            || (count > 0 && entry.number != first + count) || !fci_is_intact(segment, number)) {
            break;
        }
        if (entry.keyframe) {
            subscriber->begun = true;
            subscriber->begun_session = segment->session;
            break;
        }
        first = count == 0 ? entry.number : first;
        count++;
        fci_take(segment);
        fci_release(segment, number);
    }
    if (count > 0) {
        report_loss(subscriber, first, count, FC_LOSS_AWAITS_KEYFRAME);
    }
    return count > 0;
}

static struct fci_frame *give(struct fc_subscriber *subscriber, int64_t number, const struct fci_entry *entry) {
    struct fci_segment *segment = subscriber->segment;
    struct fci_frame *frame = fci_frame_make(subscriber, number, entry);
    if (frame == NULL) {
        return NULL;
    }
    if (!fci_is_intact(segment, number)) {
        /* The leader wrote there again before it was copied. The next frame shows that this one is missing. */
        fci_frame_drop(frame);
        subscriber->choice.awaits_keyframe = true;
        return NULL;
    }
    report_missed(subscriber, segment->session, entry->number);
    subscriber->session = segment->session;
    subscriber->next_number = entry->number + 1;
    for (int i = 0; i < FC_LOSS_REASONS; i++) {
        frame->shown.lost[i] = subscriber->lost[i];
        subscriber->lost[i] = 0;
    }
    subscriber->stats.frames++;
    subscriber->stats.bytes += frame->shown.bytes;
    return frame;
}

/* The next entry; NULL for one that is no frame for the user. */
static struct fci_frame *take(struct fc_subscriber *subscriber) {
    struct fci_segment *segment = subscriber->segment;
    if (skip_to_keyframe(subscriber) || skip_outdated(subscriber)) {
        return NULL;
    }
    int64_t number = fci_peek(segment);
    if (number == FCI_TORN) {
        fail(subscriber, "is torn", segment->next);
    }
    if (number < 0) {
        return NULL;
    }
    struct fci_entry entry;
    bool sound = fci_read(segment, number, &entry);
    fci_take(segment);
    uint64_t last = entry.is_loss ? entry.number + entry.lost - 1 : entry.number;
    if (!fci_is_intact(segment, number)) {
        return NULL;
    }
    if (!sound) {
        fail(subscriber, "does not lie in the ring", number);
        return NULL;
    }
    if (is_known(subscriber, last)) {
        fci_release(segment, number);
        return NULL;
    }
    if (entry.is_loss) {
        fci_release(segment, number);
        report_loss(subscriber, entry.number, entry.lost, (fc_loss_reason)entry.reason);
        return NULL;
    }
    return give(subscriber, number, &entry);
}

static bool goes_on(const struct fci_segment *former, const struct fci_segment *made) {
    return made->continues && made->session == former->session;
}

static void remove_coming(struct fc_subscriber *subscriber, bool hold_nothing) {
    struct fci_segment *made = subscriber->coming;
    subscriber->coming = made->later;
    if (hold_nothing) {
        fci_let_go(made);
    }
    fci_unwatch(subscriber, made);
    fci_unref_segment(subscriber, made);
}

static bool is_any_open(const struct fci_segment *made) {
    for (const struct fci_segment *each = made; each != NULL; each = each->later) {
        if (fci_is_open(each)) {
            return true;
        }
    }
    return false;
}

/* Passes over a segment whose leader never went on, unless that of a successor may depend on it: successors that are
   not open may have died. */
static bool skips(struct fc_subscriber *subscriber, const struct fci_segment *made) {
    if (made->later == NULL || (fci_is_open(made) && !is_any_open(made->later))) {
        return false;
    }
    remove_coming(subscriber, false);
    return true;
}

static void adopt(struct fc_subscriber *subscriber, struct fci_segment *made) {
    struct fci_segment *former = subscriber->segment;
    bool continued = former != NULL && !subscriber->end_reported && goes_on(former, made);
    subscriber->choice.looked = made->next;
    subscriber->choice.newest = made->next;
    subscriber->segment = made;
    subscriber->coming = made->later;
    subscriber->end_reported = false;
    subscriber->stats.sessions += continued ? 0 : 1;
    if (former != NULL) {
        fci_unwatch(subscriber, former);
        fci_unref_segment(subscriber, former);
    }
}

/* To the next segment, when nothing more comes in this one. False where there is nothing to do now. */
static bool moves(struct fc_subscriber *subscriber) {
    struct fci_segment *former = subscriber->segment;
    enum fci_sight sight = former == NULL ? FCI_NO_SESSION : fci_see(former);
    subscriber->end_reported |= former != NULL && (sight == FCI_ENDED || sight == FCI_LOST);
    struct fci_segment *made = subscriber->coming;
    if (made == NULL || sight == FCI_FRAMES) {
        return sight == FCI_FRAMES;
    }
    bool may_stay = sight == FCI_STREAMING || sight == FCI_NO_SESSION;
    if (former != NULL && may_stay && fci_see(made) == FCI_NO_SESSION) {
        /* Its leader does not go on yet, and may never: the former one may still publish. */
        return skips(subscriber, made);
    }
    if (former != NULL && sight == FCI_LOST && subscriber->channel.rejoin_ms == 0 && !goes_on(former, made)) {
        remove_coming(subscriber, true);
        return true;
    }
    adopt(subscriber, made);
    return true;
}

/* Whether another process is about to copy the next frame to its device. */
static bool awaits_device(struct fc_subscriber *subscriber) {
    if (subscriber->device == NULL) {
        return false;
    }
    fci_share_look(subscriber->device, subscriber->segment);
    int64_t number = fci_peek(subscriber->segment);
    return number >= 0 && fci_share_awaits(subscriber->segment, number);
}

struct fci_frame *fci_poll(struct fc_subscriber *subscriber) {
    subscriber->awaits_device = false;
    subscriber->full = false;
    while (subscriber->final.status == FC_OK) {
        if (subscriber->segment != NULL && fci_see(subscriber->segment) == FCI_FRAMES) {
            subscriber->awaits_device = awaits_device(subscriber);
            subscriber->full = fci_is_full(subscriber);
            if (subscriber->awaits_device || subscriber->full) {
                return NULL;
            }
            struct fci_frame *frame = take(subscriber);
            if (frame != NULL) {
                return frame;
            }
        } else if (!moves(subscriber)) {
            return NULL;
        }
    }
    return NULL;
}

enum fci_sight fci_look(struct fc_subscriber *subscriber) {
    enum fci_sight sight = subscriber->segment == NULL ? FCI_NO_SESSION : fci_see(subscriber->segment);
    if (sight == FCI_FRAMES || sight == FCI_ENDED) {
        return sight;
    }
    /* Some of those who led meanwhile never went on. */
    for (struct fci_segment *made = subscriber->coming; made != NULL; made = made->later) {
        enum fci_sight later = fci_see(made);
        if (later != FCI_NO_SESSION) {
            return later;
        }
        sight = later;
    }
    return sight;
}

fc_status fci_standing(struct fc_subscriber *subscriber, fc_error *error) {
    if (subscriber->final.status == FC_OK) {
        enum fci_sight sight = fci_look(subscriber);
        if (sight == FCI_ENDED) {
            return fci_fail(error, FC_END_OF_STREAM, "end of stream");
        }
        if (sight == FCI_LOST && (subscriber->lost_for_good || subscriber->channel.rejoin_ms == 0)) {
            return fci_fail(error, FC_SOURCE_LOST, "the source of %s is gone without an end of stream; rejoin=10s in the"
                            " URI waits for the next one", subscriber->channel.name);
        }
        if (subscriber->gone.status != FC_OK && sight != FCI_FRAMES) {
            return fci_fail(error, subscriber->gone.status, "%s", subscriber->gone.text);
        }
        return FC_EMPTY;
    }
    return fci_fail(error, subscriber->final.status, "%s", subscriber->final.text);
}
