package io.framecast.engine.aeron;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.aeron.CncFileDescriptor;
import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.engine.testing.InvokedNodes;
import io.framecast.testing.TestPorts;
import java.io.File;
import java.lang.foreign.MemorySegment;
import java.nio.MappedByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.IoUtil;
import org.agrona.concurrent.status.CountersReader;
import org.junit.jupiter.api.Test;

/// A source's own Aeron driver has room for the counters of the most members that a source serves.
class AeronCountersTest {
    private static final int MEMBERS_MAX = 256;
    private static final int FEW = 2;
    private static final int MORE = 5;

    @Test
    void shouldHaveRoomForTheCountersOfTheMostMembers() {
        final Set<File> before = drivers();
        try (InvokedNodes nodes = new InvokedNodes()) {
            final String channel = "framecast:aeron?group=239.66.77.91:" + TestPorts.triple()
                    + "|window=64k|frame-max=4k" + "|interface=127.0.0.1";
            final Publisher publisher =
                    nodes.launch(new AeronTransportProvider()).publish(Channel.parse(channel));
            final Set<File> own = drivers();
            own.removeAll(before);
            final File driver = own.iterator().next();
            final List<Subscriber> subscribers = new ArrayList<>();
            final int few = join(nodes, channel, publisher, subscribers, FEW, driver);
            final int more = join(nodes, channel, publisher, subscribers, MORE, driver);
            final int each = Math.ceilDiv(more - few, MORE - FEW);
            final int room = room(driver);
            assertTrue(
                    few + each * (MEMBERS_MAX - FEW) < room * 3L / 4,
                    () -> few + " counters with " + FEW + " members, " + more + " with " + MORE + ", room for " + room);
        }
    }

    /// @return the driver's counters when so many have had a frame
    private static int join(
            final InvokedNodes nodes,
            final String channel,
            final Publisher publisher,
            final List<Subscriber> subscribers,
            final int members,
            final File driver) {
        while (subscribers.size() < members) {
            subscribers.add(nodes.launch(new AeronTransportProvider()).subscribe(Channel.parse(channel)));
        }
        nodes.until(() -> publisher.readySubscribers() == members, "members");
        nodes.until(() -> publisher.offer(MemorySegment.ofArray(new byte[1]), FrameOptions.DEFAULT) > 0, "room");
        for (final Subscriber subscriber : subscribers) {
            nodes.until(
                    () -> {
                        final DeviceFrame frame = subscriber.poll();
                        if (frame != null) {
                            frame.close();
                        }
                        return frame != null;
                    },
                    "a frame");
        }
        final int[] found = {0};
        read(driver, counters -> counters.forEach((_, _) -> found[0]++));
        return found[0];
    }

    private static int room(final File driver) {
        final int[] found = {0};
        read(driver, counters -> found[0] = counters.maxCounterId() + 1);
        return found[0];
    }

    private static void read(final File driver, final Consumer<CountersReader> reader) {
        final MappedByteBuffer mapped = IoUtil.mapExistingFile(new File(driver, CncFileDescriptor.CNC_FILE), "cnc");
        try {
            final DirectBuffer versions = CncFileDescriptor.createMetaDataBuffer(mapped);
            reader.accept(new CountersReader(
                    CncFileDescriptor.createCountersMetaDataBuffer(mapped, versions),
                    CncFileDescriptor.createCountersValuesBuffer(mapped, versions)));
        } finally {
            IoUtil.unmap(mapped);
        }
    }

    /// This process's.
    private static Set<File> drivers() {
        final Set<File> found = new HashSet<>();
        final String prefix = "framecast-aeron-" + ProcessHandle.current().pid() + "-";
        for (final String parent : List.of("/dev/shm", System.getProperty("java.io.tmpdir"))) {
            final File[] directories =
                    Path.of(parent).toFile().listFiles(file -> file.getName().startsWith(prefix));
            for (final File directory : directories == null ? new File[0] : directories) {
                found.add(new File(directory, "driver"));
            }
        }
        return found;
    }
}
