package io.framecast.engine.hostgroup;

import static io.framecast.fuzz.FuzzLimits.require;
import static io.framecast.fuzz.FuzzLimits.requireEqual;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.engine.libc.UnixSocket;
import io.framecast.fuzz.FuzzCorpus;
import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.wire.Delivery;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// A message of the group's socket, of any length: it is of one kind at most, and every field of that kind can be
/// read.
public final class GroupMessageFuzzTest {
    private static final MemorySegment MESSAGE = Arena.global().allocate(UnixSocket.MESSAGE_BYTES, Long.BYTES);

    @TestFactory
    Stream<DynamicTest> shouldReadEveryMessage() {
        final byte[] other = bytes(GroupMessage.refused(MESSAGE, GroupMessage.OTHER_VERSION));
        other[8]++;
        return FuzzCorpus.of(
                GroupMessageFuzzTest.class,
                Map.of(
                        "hello", bytes(GroupMessage.hello(MESSAGE, 4711, 3, Delivery.deadline(40))),
                        "segment", bytes(GroupMessage.segment(MESSAGE, 3, 1)),
                        "refused", bytes(GroupMessage.refused(MESSAGE, GroupMessage.NO_PLACE)),
                        "other", other),
                GroupMessageFuzzTest::fuzzerTestOneInput);
    }

    private static byte[] bytes(final MemorySegment message) {
        return message.toArray(JAVA_BYTE);
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        final int bytes = Math.min(input.length, UnixSocket.MESSAGE_BYTES);
        // Behind a short message lies what the one before left.
        MemorySegment.copy(input, 0, MESSAGE, JAVA_BYTE, 0, bytes);
        int kinds = GroupMessage.isForeign(MESSAGE, bytes) ? 1 : 0;
        for (final int type : new int[] {GroupMessage.HELLO, GroupMessage.SEGMENT, GroupMessage.REFUSED}) {
            if (GroupMessage.is(MESSAGE, bytes, type)) {
                kinds++;
                requireEqual(SegmentLayout.VERSION, GroupMessage.version(MESSAGE));
                require(GroupMessage.delivery(MESSAGE).patienceMs() >= 0, "a policy");
                GroupMessage.sender(MESSAGE);
                GroupMessage.generation(MESSAGE);
                GroupMessage.member(MESSAGE);
                GroupMessage.reason(MESSAGE);
            }
        }
        require(kinds <= 1, "one kind at most");
    }
}
