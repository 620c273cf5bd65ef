package io.framecast.rdma;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSided.Access;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.OneSidedEndpoint.Range;
import io.framecast.api.spi.OneSidedEndpoint.State;
import io.framecast.api.spi.RegisteredMemory;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Operations of one side on the other's memory over an endpoint, on the devices of a fabric.
abstract class OneSidedContract {
    static final int BYTES = 1 << 16;
    private static final int OPERATIONS = 8;
    private static final VarHandle WORD = JAVA_LONG.varHandle();

    final long[] tokens = new long[OPERATIONS];
    final Arena arena = Arena.ofShared();
    final MemorySegment local = arena.allocate(BYTES, 64);
    final MemorySegment remote = arena.allocate(BYTES, 64);
    Fabric fabric;
    Transport near;
    Transport far;
    OneSided acting;
    OneSided serving;

    abstract Fabric fabric();

    @BeforeEach
    final void openTransports() {
        fabric = fabric();
        near = LaneRings.openTransport(fabric, fabric.device(0));
        far = LaneRings.openTransport(fabric, fabric.device(1));
        acting = Objects.requireNonNull(near.oneSided());
        serving = Objects.requireNonNull(far.oneSided());
    }

    @AfterEach
    final void closeTransports() {
        if (near != null) {
            near.close();
            far.close();
            Wait.until("all to close", () -> fabric.library().liveHandles() == 0);
        }
        arena.close();
    }

    /// Both ends of a connection that is up.
    record Pair(OneSidedEndpoint actor, OneSidedEndpoint server) {}

    final Pair connect() {
        return connect(0);
    }

    private Pair connect(final int serverOperations) {
        final OneSidedEndpoint actor =
                acting.open(OPERATIONS, serverOperations > 0 ? Access.PEERS_WRITE : Access.LOCAL);
        final OneSidedEndpoint server = serving.accept(actor.descriptor(), Access.PEERS_WRITE, serverOperations);
        Wait.until("the server to be up", () -> server.state() == State.UP);
        assertTrue(server.descriptor().length <= OneSided.DESCRIPTOR_BYTES_MAX);
        actor.connect(server.descriptor());
        Wait.until("the actor to be up", () -> actor.state() == State.UP);
        return new Pair(actor, server);
    }

    private long await(final OneSidedEndpoint actor) {
        Wait.until("a token", () -> actor.poll(tokens) > 0 || actor.state() == State.BROKEN);
        assertEquals("", actor.failure());
        return tokens[0];
    }

    final void awaitBroken(final OneSidedEndpoint actor) {
        Wait.until("the end", () -> {
            assertEquals(0, actor.poll(tokens));
            return actor.state() == State.BROKEN;
        });
        assertEquals(0, actor.room());
        assertFalse(actor.write64(0, 0, 1, 1));
    }

    @Test
    void shouldSayThatItCan() {
        assertTrue(near.capabilities().oneSidedRead());
        assertTrue(near.capabilities().oneSidedWrite());
    }

    @Test
    void shouldWriteAWordIntoThePeersMemory() {
        final OneSidedEndpoint actor = connect().actor();
        try (RegisteredMemory words = serving.register(remote, Access.PEERS_WRITE)) {
            for (int i = 0; i < 40; i++) {
                final long value = 0x1234_5678_9abcL << 16 | i;
                final long at = words.address() + 8L * i;
                assertThrows(IllegalArgumentException.class, () -> actor.write64(at + 4, words.key(), value, 1));
                assertTrue(actor.write64(at, words.key(), value, i));
                assertEquals(i, await(actor));
                assertEquals(value, (long) WORD.getAcquire(remote, 8L * i));
            }
            assertEquals(0, remote.get(JAVA_LONG, 8 * 40));
        }
    }

    @Test
    void shouldReadThePeersMemoryInOrder() {
        final OneSidedEndpoint actor = connect().actor();
        for (long i = 0; i < BYTES; i++) {
            remote.set(JAVA_BYTE, i, (byte) (i * 7 + i / 251));
        }
        try (RegisteredMemory window = serving.register(remote, Access.PEERS_READ);
                RegisteredMemory destination = acting.register(local, Access.LOCAL)) {
            final Range target = new Range(destination);
            final int part = BYTES / OPERATIONS;
            for (int i = 0; i < OPERATIONS; i++) {
                final long token = i == OPERATIONS - 1 ? 77 : OneSidedEndpoint.NO_TOKEN;
                final long at = (long) i * part;
                assertTrue(actor.read(target.at(at, part), window.address() + at, window.key(), token));
            }
            assertEquals(77, await(actor));
            assertEquals(-1, local.mismatch(remote));
            assertEquals(OPERATIONS, actor.room());
        }
    }

    @Test
    void shouldWriteIntoTheMemoryOfOneWhoActsWhenItWasAcceptedWithOperations() {
        final Pair pair = connect(OPERATIONS);
        final OneSidedEndpoint accepted = pair.server();
        for (long i = 0; i < BYTES; i++) {
            remote.set(JAVA_BYTE, i, (byte) (i * 11 + i / 241));
        }
        try (RegisteredMemory from = serving.register(remote, Access.PEERS_READ);
                RegisteredMemory to = acting.register(local, Access.PEERS_WRITE)) {
            final Range source = new Range(from);
            final int part = (BYTES - 8) / OPERATIONS;
            for (int i = 0; i < OPERATIONS - 1; i++) {
                final long at = (long) i * part;
                assertTrue(accepted.write(source.at(at, part), to.address() + at, to.key(), OneSidedEndpoint.NO_TOKEN));
            }
            assertTrue(accepted.write64(to.address() + BYTES - 8, to.key(), 4711, 5));
            assertFalse(accepted.write(source.at(0, 8), to.address(), to.key(), 6));
            assertEquals(5, await(accepted));
            final long written = (long) (OPERATIONS - 1) * part;
            assertEquals(-1, local.asSlice(0, written).mismatch(remote.asSlice(0, written)));
            assertEquals(4711, (long) WORD.getAcquire(local, BYTES - 8L));
            assertEquals(0, pair.actor().poll(tokens));
        }
    }

    @Test
    void shouldBreakTheEndThatWritesWhereItMayOnlyRead() {
        final Pair pair = connect(OPERATIONS);
        final OneSidedEndpoint accepted = pair.server();
        remote.fill((byte) 5);
        try (RegisteredMemory from = serving.register(remote, Access.PEERS_READ);
                RegisteredMemory to = acting.register(local, Access.PEERS_READ)) {
            assertTrue(accepted.write(new Range(from).at(0, 64), to.address(), to.key(), 1));
            awaitBroken(accepted);
            assertEquals(0, local.get(JAVA_BYTE, 0));
        }
    }

    /// One process with itself: its device copies within the host.
    @Test
    void shouldReadOwnMemoryOverAConnectionWithItself() {
        final OneSidedEndpoint actor = acting.open(OPERATIONS);
        final OneSidedEndpoint server = acting.accept(actor.descriptor());
        Wait.until("the server to be up", () -> server.state() == State.UP);
        actor.connect(server.descriptor());
        Wait.until("the actor to be up", () -> actor.state() == State.UP);
        remote.fill((byte) 7);
        try (RegisteredMemory from = acting.register(remote, Access.PEERS_READ);
                RegisteredMemory to = acting.register(local, Access.LOCAL)) {
            assertTrue(actor.read(new Range(to).at(64, 4096), from.address(), from.key(), 3));
            assertEquals(3, await(actor));
            assertEquals(-1, local.asSlice(64, 4096).mismatch(remote.asSlice(0, 4096)));
            assertEquals(0, local.get(JAVA_BYTE, 63));
        }
    }

    /// Though memory is registered for it, and the key is right.
    @Test
    void shouldNotLetAPeerDoWhatItsEndpointIsNotFor() {
        final OneSidedEndpoint actor = acting.open(OPERATIONS);
        final OneSidedEndpoint server = serving.accept(actor.descriptor());
        Wait.until("the server to be up", () -> server.state() == State.UP);
        actor.connect(server.descriptor());
        Wait.until("the actor to be up", () -> actor.state() == State.UP);
        try (RegisteredMemory words = serving.register(remote, Access.PEERS_WRITE)) {
            assertTrue(actor.write64(words.address(), words.key(), 5, 1));
            awaitBroken(actor);
            assertEquals(0, remote.get(JAVA_LONG, 0));
        }
    }

    @Test
    void shouldTakeNoMoreThanItHasRoomFor() {
        final OneSidedEndpoint actor = connect().actor();
        try (RegisteredMemory words = serving.register(remote, Access.PEERS_WRITE)) {
            for (int i = 0; i < OPERATIONS; i++) {
                assertTrue(actor.write64(words.address(), words.key(), i, i));
            }
            assertFalse(actor.write64(words.address(), words.key(), 99, 99));
            final int[] reported = {0};
            Wait.until("all tokens", () -> {
                final int count = actor.poll(tokens);
                for (int i = 0; i < count; i++) {
                    assertEquals(reported[0]++, tokens[i]);
                }
                return reported[0] == OPERATIONS;
            });
            assertEquals(OPERATIONS - 1, remote.get(JAVA_LONG, 0));
        }
    }

    @Test
    void shouldBreakAndSayWhyWhenTheKeyIsWrong() {
        final OneSidedEndpoint actor = connect().actor();
        try (RegisteredMemory words = serving.register(remote, Access.PEERS_WRITE)) {
            assertTrue(actor.write64(words.address(), words.key() + 256, 1, 1));
            awaitBroken(actor);
            assertTrue(actor.failure().startsWith("remote access"), actor.failure());
            assertEquals(0, remote.get(JAVA_LONG, 0));
        }
    }

    @Test
    void shouldRefuseToReadOutsideOfWhatWasRegistered() {
        final OneSidedEndpoint actor = connect().actor();
        try (RegisteredMemory window = serving.register(remote.asSlice(0, 4096), Access.PEERS_READ);
                RegisteredMemory destination = acting.register(local, Access.LOCAL)) {
            assertThrows(IllegalArgumentException.class, () -> new Range(destination).at(BYTES - 8, 16));
            assertTrue(actor.read(new Range(destination).at(0, 64), window.address() + 4096 - 32, window.key(), 1));
            awaitBroken(actor);
        }
    }

    @Test
    void shouldBreakWhenThePeerHasClosed() {
        final Pair pair = connect();
        try (RegisteredMemory words = serving.register(remote, Access.PEERS_WRITE)) {
            pair.server().close();
            pair.actor().write64(words.address(), words.key(), 5, 1);
            awaitBroken(pair.actor());
            assertTrue(
                    pair.actor().failure().startsWith("no answer"), pair.actor().failure());
            assertEquals(0, remote.get(JAVA_LONG, 0));
        }
    }

    @Test
    void shouldRefuseDescriptorsThatNobodyMade() {
        try (OneSidedEndpoint actor = acting.open(OPERATIONS)) {
            final byte[] good = actor.descriptor();
            assertNotNull(RcDescriptor.decode(good, ((VerbsOneSided) serving).ownEnd()));
            for (int length = 0; length <= OneSided.DESCRIPTOR_BYTES_MAX; length++) {
                final byte[] cut = Arrays.copyOf(good, length);
                if (length != good.length) {
                    assertThrows(TransportException.class, () -> serving.accept(cut));
                    assertThrows(TransportException.class, () -> actor.connect(cut));
                }
            }
            // Kind, queue pair, packet sequence number, MTU; and addresses that no peer has.
            for (final int at : new int[] {0, 17, 21, 25, 28}) {
                final byte[] bent = good.clone();
                bent[at] = (byte) 0xff;
                assertThrows(TransportException.class, () -> serving.accept(bent), "byte " + at);
            }
            for (final int first : new int[] {0, 127, 224, 255}) {
                final byte[] bent = good.clone();
                bent[13] = (byte) first;
                assertThrows(TransportException.class, () -> serving.accept(bent), first + ".0.0.0/8");
            }
            assertEquals(State.IDLE, actor.state());
            assertArrayEquals(good, actor.descriptor());
        }
    }
}
