package io.framecast.perf.chaos;

import java.util.ArrayList;
import java.util.List;

/// The memory of a process soon after it joined, and before the stream's end.
///
/// @param begunToServe whether it became a co-root meanwhile: it may then hold a copy of the window and a
///     lane more
/// @param shares whether it shares a ring with others of its host: more of the ring may be touched at the end, by its
///     leader as by those that read it
/// @param followers how many its ring may serve at the end and perhaps did not at first; each holds two descriptors
record MemoryRow(
        String process,
        StreamLog.Memory first,
        StreamLog.Memory last,
        boolean begunToServe,
        boolean shares,
        int followers) {
    static final long HEAP_TOLERANCE_BYTES = 2 << 20;
    static final long RESIDENT_TOLERANCE_BYTES = 8 << 20;
    static final long SERVING_DESCRIPTORS = 1;
    static final long FOLLOWER_DESCRIPTORS = 2;
    // The window in slots, rounded up to a power of two, and mapped twice: pages count as often as they are
    // mapped. A lane over verbs also pins the slots of its queues: less than a window.
    static final long SERVING_BYTES = ChaosPlan.WINDOW_BYTES * 4L;

    List<String> complaints() {
        final List<String> complaints = new ArrayList<>();
        check(complaints, "heap bytes", last.heapBytes() - first.heapBytes(), HEAP_TOLERANCE_BYTES);
        check(
                complaints,
                "resident bytes",
                last.residentBytes() - first.residentBytes(),
                RESIDENT_TOLERANCE_BYTES + (begunToServe || shares ? SERVING_BYTES : 0));
        check(
                complaints,
                "descriptors",
                last.descriptors() - first.descriptors(),
                (begunToServe ? SERVING_DESCRIPTORS : 0) + FOLLOWER_DESCRIPTORS * followers);
        return complaints;
    }

    private void check(final List<String> complaints, final String what, final long grown, final long most) {
        if (grown > most) {
            complaints.add(process + " holds " + grown + " " + what + " more than at first, expected at most " + most);
        }
    }
}
