package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.error.TransportException;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import io.framecast.rdma.verbs.NeedsGcc;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Events of a device while lanes use it, and lanes that close behind their sends, on the stand-in.
@NeedsGcc
final class LaneEventsTest {
    private static final int SLOTS = 8;
    private static final int DEVICE_FATAL = 8;
    private static final int PORT_ERROR = 10;
    private static final LaneRings RINGS = new LaneRings(SLOTS, 24, 64);

    private final Completions completions = new Completions(SLOTS);
    private final List<String> notices = new ArrayList<>();
    private Fabric fabric;
    private Arena arena;
    private Transport transport;
    private Lane source;
    private Lane receiver;

    @BeforeEach
    void open() {
        fabric = Fabric.standIn();
        arena = Arena.ofShared();
        final Channel channel = Channel.parse("framecast:verbs?group=239.77.5.6:4000|channel=rings|interface=standin0");
        transport = VerbsTransport.open(fabric.library(), new TransportConfig(channel, notices::add));
        source = RINGS.source(transport, arena);
        receiver = RINGS.receiver(transport, arena, source);
        receiver.post(0, SLOTS);
        // It uses these.
        notices.clear();
    }

    @AfterEach
    void close() {
        fabric.set("sends_late", 0);
        transport.close();
        arena.close();
        Wait.until("all to close", () -> fabric.library().liveHandles() == 0);
    }

    private void happens(final int type) {
        fabric.deviceEvent(RdmaAddress.decode(source.address()).queuePair(), type);
    }

    private void poll() {
        completions.clear();
        receiver.poll(completions);
    }

    @ParameterizedTest
    @CsvSource({
        "9, active",
        "10, went down: nothing is sent or received until it is back",
        "18, has other addresses (GIDs) now",
        "17, the subnet manager has forgotten"
    })
    void shouldReportWhatHappensToThePortOnceAndGoOn(final int type, final String notice) {
        happens(type);
        receiver.armReady();
        receiver.armReady();
        assertEquals(1, notices.size(), notices::toString);
        assertTrue(notices.getFirst().startsWith("verbs: device standin0 port 1"), notices::toString);
        assertTrue(notices.getFirst().contains(notice), notices::toString);
        source.multicast(0, 3);
        poll();
        assertEquals(3, completions.count());
    }

    @Test
    void shouldLookWhereNobodySleepsButNotForEachCall() {
        happens(PORT_ERROR);
        poll();
        assertEquals(List.of(), notices);
        Wait.until("the notice", () -> {
            poll();
            return !notices.isEmpty();
        });
    }

    @Test
    void shouldNotFillALogWhenAPortComesAndGoes() {
        for (int i = 0; i < 5 * DeviceEvents.LINES_MAX; i++) {
            happens(PORT_ERROR);
            receiver.armReady();
        }
        assertEquals(DeviceEvents.LINES_MAX, notices.size());
        assertTrue(notices.getLast().endsWith("further events of this channel's device are not reported"));
    }

    @Test
    void shouldEndAllLanesWithThatReasonWhenTheDeviceFails() {
        happens(DEVICE_FATAL);
        final String why = "device standin0: the device is gone or failed (a fatal event); see dmesg and rdma link";
        final TransportException ended = assertThrows(TransportException.class, receiver::armReady);
        assertTrue(ended.getMessage().contains(" ended: " + why), ended::getMessage);
        assertThrows(TransportException.class, () -> receiver.post(0, 1));
        // A lane that only sends, and never sleeps.
        final TransportException later = Wait.untilEnded(source::completed);
        assertTrue(later.getMessage().contains(" ended: " + why), later::getMessage);
        assertEquals(List.of("verbs: " + why), notices);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5})
    void shouldSendWhatWasPostedBeforeItCloses(final int polls) {
        fabric.set("sends_late", polls);
        assertEquals(3, source.multicast(0, 3));
        poll();
        assertEquals(0, completions.count());
        source.close();
        poll();
        assertEquals(3, completions.count());
    }

    @Test
    void shouldCloseAllTheSameWhereADeviceNeverComesToIt() {
        fabric.set("sends_late", Integer.MAX_VALUE);
        assertEquals(3, source.multicast(0, 3));
        source.close();
        poll();
        assertEquals(0, completions.count());
    }
}
