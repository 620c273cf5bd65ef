package io.framecast.reliability.onesided;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.onesided.EndpointPort.State;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.EndpointOffer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The actions that a source permits its members on its memory, over a scripted port.
final class MemberEndpointsTest {
    private static final int MEMBERS_MAX = 64;

    private final List<String> notices = new ArrayList<>();
    private final ScriptedPort port = new ScriptedPort();
    private final TestMemory arena = new TestMemory();
    private final WindowMemory memory = arena.window(64, 64);

    @AfterEach
    void close() {
        arena.close();
    }

    private @Nullable MemberEndpoints open() {
        return MemberEndpoints.open(port, memory, MEMBERS_MAX, "cam", notices::add);
    }

    private MemberEndpoints opened() {
        return Objects.requireNonNull(open());
    }

    // The status vector is registered first.
    private MemorySegment words() {
        return port.registered.getFirst();
    }

    @Test
    void shouldOfferTheWordAndTheWindowOnceTheEndpointIsUp() {
        try (MemberEndpoints reach = opened()) {
            assertTrue(reach.accept(3, new byte[] {1}, false));
            assertNull(reach.offer(3));
            port.endpoints.getFirst().state = State.UP;
            final EndpointOffer offer = reach.offer(3);
            assertNotNull(offer);
            assertArrayEquals(new byte[] {4, 2}, offer.descriptor());
            assertEquals(words().address() + 24, offer.word().address());
            assertEquals(memory.headers().address(), offer.headers().address());
            assertEquals(memory.payload().address(), offer.payload().address());
            assertNull(reach.offer(2));
        }
        assertEquals(0, port.leases);
        assertTrue(port.endpoints.getFirst().closed);
    }

    @Test
    void shouldCutAMemberOffBeforeItsWordIsNobodys() {
        try (MemberEndpoints reach = opened()) {
            assertTrue(reach.accept(3, new byte[] {1}, false));
            final MemorySegment words = words();
            words.set(JAVA_LONG, 24, 77);
            port.endpoints.getFirst().onClose = () -> assertEquals(77, words.get(JAVA_LONG, 24));
            reach.cut(3);
            assertTrue(port.endpoints.getFirst().closed);
            assertEquals(0, words.get(JAVA_LONG, 24));
            assertNull(reach.offer(3));
            reach.cut(3);
        }
    }

    @Test
    void shouldRefuseHostileDescriptorsAndTellOnce() {
        try (MemberEndpoints reach = opened()) {
            for (int i = 0; i < 50; i++) {
                assertFalse(reach.accept(i, new byte[] {(byte) 0xff}, false));
                assertNull(reach.offer(i));
            }
            assertEquals(1, notices.size());
            assertTrue(notices.getFirst().startsWith("publisher of cam: a subscriber's credit"), notices::toString);
        }
    }

    @Test
    void shouldTellOfAnEndpointThatFailed() {
        try (MemberEndpoints reach = opened()) {
            assertFalse(reach.isBroken(3));
            assertTrue(reach.accept(3, new byte[] {1}, false));
            assertFalse(reach.isBroken(3));
            port.endpoints.getFirst().state = State.BROKEN;
            assertTrue(reach.isBroken(3));
            assertTrue(reach.isBroken(3));
            assertNull(reach.offer(3));
            assertEquals(1, notices.size());
            reach.cut(3);
            assertFalse(reach.isBroken(3));
        }
    }

    @Test
    void shouldDoWithoutWhenTheSystemRefusesToRegister() {
        port.refusesMemory = true;
        assertNull(open());
        assertEquals(1, notices.size());
        assertEquals(0, port.leases);
    }
}
