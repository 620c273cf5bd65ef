package io.framecast.engine.node;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.RegisteredMemory;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import io.framecast.reliability.wire.LinkOffer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What a source lets members do to its memory, over a transport that only pretends.
final class MemberReachTest {
    private final List<String> notices = new ArrayList<>();
    private final List<MemorySegment> registered = new ArrayList<>();
    private final List<Endpoint> endpoints = new ArrayList<>();
    private final SendMemory memory = new SendMemory(64, 64);
    private boolean refusesMemory;
    private int leases;

    @AfterEach
    void close() {
        memory.close();
    }

    private @Nullable MemberReach open() {
        return MemberReach.open(new Pretending(), memory, 0, "cam", notices::add);
    }

    private MemberReach opened() {
        return Objects.requireNonNull(open());
    }

    @Test
    void shouldOfferTheWordAndTheWindowOnceTheEndpointIsUp() {
        try (MemberReach reach = opened()) {
            assertTrue(reach.accept(3, new byte[] {1}));
            assertNull(reach.offer(3));
            endpoints.getFirst().state = OneSidedEndpoint.State.UP;
            final LinkOffer offer = reach.offer(3);
            assertNotNull(offer);
            assertArrayEquals(Endpoint.DESCRIPTOR, offer.descriptor());
            assertEquals(registered.get(0).address() + 24, offer.word().address());
            assertEquals(memory.headers().address(), offer.headers().address());
            assertEquals(memory.payload().address(), offer.payload().address());
            assertNull(reach.offer(2));
        }
        assertEquals(0, leases);
        assertTrue(endpoints.getFirst().closed);
    }

    @Test
    void shouldCutAMemberOffBeforeItsWordIsNobodys() {
        try (MemberReach reach = opened()) {
            assertTrue(reach.accept(3, new byte[] {1}));
            final MemorySegment words = registered.getFirst();
            words.set(JAVA_LONG, 24, 77);
            endpoints.getFirst().onClose = () -> assertEquals(77, words.get(JAVA_LONG, 24));
            reach.cut(3);
            assertTrue(endpoints.getFirst().closed);
            assertEquals(0, words.get(JAVA_LONG, 24));
            assertNull(reach.offer(3));
            reach.cut(3);
        }
    }

    @Test
    void shouldRefuseHostileDescriptorsAndTellOnce() {
        try (MemberReach reach = opened()) {
            for (int i = 0; i < 50; i++) {
                assertFalse(reach.accept(i, new byte[] {(byte) 0xff}));
                assertNull(reach.offer(i));
            }
            assertEquals(1, notices.size());
            assertTrue(notices.getFirst().startsWith("publisher of cam: a subscriber's credit"), notices::toString);
        }
    }

    @Test
    void shouldTellOfAnEndpointThatFailed() {
        try (MemberReach reach = opened()) {
            assertFalse(reach.isBroken(3));
            assertTrue(reach.accept(3, new byte[] {1}));
            assertFalse(reach.isBroken(3));
            endpoints.getFirst().state = OneSidedEndpoint.State.BROKEN;
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
        refusesMemory = true;
        assertNull(open());
        assertEquals(1, notices.size());
        assertEquals(0, leases);
    }

    private static final class Endpoint implements OneSidedEndpoint {
        private static final byte[] DESCRIPTOR = {4, 2};
        private State state = State.CONNECTING;
        private Runnable onClose = () -> {};
        private boolean closed;

        @Override
        public byte[] descriptor() {
            return DESCRIPTOR;
        }

        @Override
        public void connect(final byte[] peer) {
            throw new UnsupportedOperationException("accepted");
        }

        @Override
        public State state() {
            return state;
        }

        @Override
        public String failure() {
            return "";
        }

        @Override
        public int room() {
            return 0;
        }

        @Override
        public boolean write64(final long address, final int key, final long value, final long token) {
            return false;
        }

        @Override
        public boolean read(final Range target, final long address, final int key, final long token) {
            return false;
        }

        @Override
        public boolean write(final Range source, final long address, final int key, final long token) {
            return false;
        }

        @Override
        public int poll(final long[] tokens) {
            return 0;
        }

        @Override
        public void close() {
            closed = true;
            onClose.run();
        }
    }

    private final class Pretending implements Transport, OneSided {
        @Override
        public TransportCapabilities capabilities() {
            throw new UnsupportedOperationException("not asked");
        }

        @Override
        public Lane open(final LaneConfig config) {
            throw new UnsupportedOperationException("no lanes");
        }

        @Override
        public OneSided oneSided() {
            return this;
        }

        @Override
        public RegisteredMemory register(final MemorySegment segment, final Access access) {
            if (refusesMemory && access == Access.PEERS_READ) {
                throw new TransportException("memlock: raise it");
            }
            registered.add(segment);
            leases++;
            return new RegisteredMemory() {
                private boolean closed;

                @Override
                public long address() {
                    return segment.address();
                }

                @Override
                public long bytes() {
                    return segment.byteSize();
                }

                @Override
                public int key() {
                    return 9;
                }

                @Override
                public void close() {
                    leases -= closed ? 0 : 1;
                    closed = true;
                }
            };
        }

        @Override
        public RegisteredMemory register(final DeviceRegion memory, final Access access) {
            throw new UnsupportedOperationException("no devices");
        }

        @Override
        public OneSidedEndpoint open(final int operationsMax, final Access peer) {
            throw new UnsupportedOperationException("a source acts on nobody");
        }

        @Override
        public OneSidedEndpoint accept(final byte[] peer, final Access access, final int operationsMax) {
            if (peer[0] < 0) {
                throw new TransportException("no descriptor");
            }
            final Endpoint made = new Endpoint();
            endpoints.add(made);
            return made;
        }

        @Override
        public void close() {}
    }
}
