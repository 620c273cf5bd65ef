package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.NodeConfig;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.testing.StreamFixture;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The buffers that a subscriber may post, and the refusals that prevent damage.
class PostTest {
    private static final int FRAME_MAX = 100_000;

    private final StreamFixture stream =
            new StreamFixture(NodeConfig.DEFAULT, "udp", "|frame-max=" + FRAME_MAX + "|device=host");
    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() {
        stream.close();
        arena.close();
    }

    private DeviceRegion region(final long bytes) {
        return DeviceRegion.ofHost(arena.allocate(bytes, 64));
    }

    private String refusal(final DeviceRegion region) {
        return assertThrows(IllegalArgumentException.class, () -> stream.subscriber.post(region))
                .getMessage();
    }

    private DeviceFrame next(final int id) {
        stream.await(() -> stream.publisher.offer(stream.frame(id, 90_000), FrameOptions.DEFAULT) > 0, "taken");
        final DeviceFrame[] frame = new DeviceFrame[1];
        stream.await(() -> (frame[0] = stream.subscriber.poll()) != null, "frame");
        frame[0].awaitReady();
        assertEquals(-1, frame[0].region().host().mismatch(stream.frame(id, 90_000)));
        return frame[0];
    }

    @Test
    void shouldRefuseABufferThatIsShorterThanAFrameMayBe() {
        assertEquals(
                "post: expected at least frame-max, 100000 bytes, got 100; allocate more, or set frame-max= to the"
                        + " longest frame",
                refusal(region(100)));
        assertTrue(stream.subscriber.post(region(FRAME_MAX)));
    }

    @Test
    void shouldGoByTheSourcesFrameMaxOnceItIsHeard() {
        try (StreamFixture other = new StreamFixture(NodeConfig.DEFAULT, "udp", "|frame-max=1000|device=host")) {
            try (Subscriber late = other.sink.subscribe(io.framecast.api.Channel.parse(
                    other.subscriber.channel().toString().replace("=1000", "=5000")))) {
                other.await(() -> late.state() == Subscriber.State.READY, "member");
                assertTrue(late.post(region(1_000)));
            }
        }
    }

    @Test
    void shouldRefuseTheSameMemoryTwiceUntilItsFrameIsReleased() {
        final DeviceRegion twice = region(2 * FRAME_MAX);
        final DeviceRegion buffer = twice.slice(0, FRAME_MAX);
        assertTrue(stream.subscriber.post(buffer));
        assertTrue(refusal(buffer).startsWith("post: this memory is posted already"), () -> refusal(buffer));
        assertTrue(refusal(twice).startsWith("post: this memory is posted already"));
        assertTrue(stream.subscriber.post(twice.slice(FRAME_MAX, FRAME_MAX)));
        final DeviceFrame frame = next(0);
        assertEquals(buffer.address(), frame.region().address());
        assertTrue(refusal(buffer).contains("not released"));
        frame.close();
        assertTrue(stream.subscriber.post(buffer));
        next(1).close();
        final DeviceFrame again = next(2);
        assertEquals(buffer.address(), again.region().address());
        try (DeviceStream work = stream.subscriber.device().openStream()) {
            again.release(work);
            work.synchronize();
            assertTrue(stream.subscriber.post(buffer));
        }
        final DeviceFrame third = next(3);
        assertEquals(buffer.address(), third.region().address());
        third.close();
    }

    @Test
    void shouldRefuseMemoryThatTheReceiverCannotWrite() {
        try (Arena confined = Arena.ofConfined()) {
            assertTrue(
                    refusal(DeviceRegion.ofHost(confined.allocate(FRAME_MAX))).contains("a confined arena's memory"));
        }
        final MemorySegment closed;
        try (Arena brief = Arena.ofShared()) {
            closed = brief.allocate(FRAME_MAX);
        }
        assertTrue(refusal(DeviceRegion.ofHost(closed)).contains("memory whose arena is closed"));
        assertTrue(refusal(DeviceRegion.ofHost(region(FRAME_MAX).host().asReadOnly()))
                .contains("memory that is read-only"));
        assertTrue(refusal(DeviceRegion.ofHost(MemorySegment.ofArray(new byte[FRAME_MAX])))
                .contains("an array's memory"));
        assertTrue(refusal(DeviceRegion.ofDevice(64, FRAME_MAX)).contains("memory that the host addresses"));
        next(0).close();
        assertEquals(Subscriber.State.READY, stream.subscriber.state());
    }

    @Test
    void shouldLeaveOutABufferWhoseArenaWasClosedWhileItWaited() {
        final DeviceRegion kept = region(FRAME_MAX);
        try (Arena gone = Arena.ofShared()) {
            assertTrue(stream.subscriber.post(DeviceRegion.ofHost(gone.allocate(FRAME_MAX))));
            assertTrue(stream.subscriber.post(kept));
        }
        final DeviceFrame first = next(0);
        assertEquals(kept.address(), first.region().address());
        first.close();
        final DeviceFrame second = next(1);
        assertNotEquals(kept.address(), second.region().address());
        second.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldTakeNoBufferWhenNoFrameWillCome(final boolean ended) {
        if (ended) {
            assertTrue(stream.closePublisher(Duration.ofSeconds(30)));
            stream.await(() -> stream.subscriber.state() == Subscriber.State.END_OF_STREAM, "end");
        } else {
            stream.subscriber.close();
        }
        assertFalse(stream.subscriber.post(region(FRAME_MAX)));
    }
}
