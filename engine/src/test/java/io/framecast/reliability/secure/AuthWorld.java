package io.framecast.reliability.secure;

import io.framecast.engine.auth.AuthKeys;
import io.framecast.engine.crypto.KeyFile.NamedKey;
import io.framecast.engine.crypto.SystemCrypto;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.HeartbeatValues;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A source and receivers in memory, with a network that loses, repeats, delays and alters, in virtual time.
final class AuthWorld implements AutoCloseable {
    /// As heartbeats announce it.
    static final long NEXT_SEQUENCE = 7;
    static final long SESSION = 0x1122_3344_5566_7788L;
    static final long STEP_NS = 1_000_000;
    static final int HANDSHAKES_MAX = 128;
    static final long PREVIOUS_NS = 1_000_000_000;
    static final byte[] SOURCE = address("source");

    /// A datagram under way.
    record Packet(long dueNs, byte[] to, byte[] bytes) {}

    /// Changes a datagram on its way; null loses it.
    interface Tap {
        byte @Nullable [] pass(byte[] to, byte[] bytes);
    }

    /// One receiver.
    final class Receiver {
        final byte[] address;
        final AuthKeys keys;
        final ReceiverProtection protection;
        final List<byte[]> heartbeats = new ArrayList<>();
        final List<byte[]> opened = new ArrayList<>();
        boolean hears = true;

        Receiver(final String name, final AuthKeys keys, final RandomGenerator secrets) {
            address = address(name);
            this.keys = keys;
            protection = new ReceiverProtection(
                    keys,
                    SystemCrypto.get(),
                    address,
                    PREVIOUS_NS,
                    secrets,
                    AuthWorld.this::send,
                    (memory, offset, bytes, _) -> heartbeats.add(copy(memory, offset, bytes)));
        }

        boolean isReady() {
            return protection.hasKeys(SESSION);
        }

        void take(final byte[] bytes) {
            fill(bytes);
            final int plain = protection.open(memory, OFFSET, bytes.length, nowNs);
            if (plain > 0) {
                opened.add(copy(memory, OFFSET, plain));
            }
        }
    }

    private static final long OFFSET = 1216;

    final SplittableRandom random;
    final Arena arena = Arena.ofConfined();
    final MemorySegment memory = arena.allocate(4 * 1216, 64);
    final ControlWriter writer = new ControlWriter(SESSION);
    final AuthKeys sourceKeys;
    final SourceProtection source;
    final List<byte[]> sourceOpened = new ArrayList<>();
    final List<Receiver> receivers = new ArrayList<>();
    final List<byte[]> sent = new ArrayList<>();
    double loss;
    double repeat;
    double delay;
    Tap tap = (_, bytes) -> bytes;
    long nowNs = 1;
    private List<Packet> network = new ArrayList<>();

    AuthWorld(final long seed) {
        this(seed, key("key1", 1));
    }

    AuthWorld(final long seed, final NamedKey... keys) {
        this(seed, AuthKeys.of(keys));
    }

    AuthWorld(final long seed, final AuthKeys keys) {
        this(seed, keys, new SplittableRandom(seed ^ 1));
    }

    AuthWorld(final long seed, final AuthKeys keys, final RandomGenerator secrets) {
        random = new SplittableRandom(seed);
        sourceKeys = keys;
        source = new SourceProtection(SESSION, keys, SystemCrypto.get(), HANDSHAKES_MAX, secrets, this::send);
    }

    static byte[] address(final String name) {
        return name.getBytes(StandardCharsets.US_ASCII);
    }

    static NamedKey key(final String id, final int filler) {
        final byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) filler);
        return new NamedKey(id, SecretBytes.take(bytes));
    }

    Receiver receiver(final String name) {
        return receiver(name, AuthKeys.of(key("key1", 1)));
    }

    Receiver receiver(final String name, final AuthKeys keys) {
        final Receiver made = new Receiver(name, keys, random.split());
        receivers.add(made);
        return made;
    }

    static byte[] copy(final MemorySegment memory, final long offset, final int bytes) {
        return memory.asSlice(offset, bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    void fill(final byte[] bytes) {
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, OFFSET, bytes.length);
    }

    /// A plain heartbeat to the group.
    byte[] heartbeat() {
        final StreamInfo info = new StreamInfo(SESSION, "channel", 1408, 64, 1 << 20, 1000, SOURCE, address("data"));
        final int bytes = HeartbeatLayout.write(
                writer.receiver(0).in(memory),
                0,
                info,
                address("channel"),
                new HeartbeatValues().progress(NEXT_SEQUENCE, 3));
        return copy(memory, 0, bytes);
    }

    /// A plain datagram of any type and length, with a random body.
    byte[] plain(final int type, final long receiver, final int bytes) {
        final byte[] made = new byte[bytes];
        random.nextBytes(made);
        final MemorySegment view = MemorySegment.ofArray(made);
        ControlLayout.begin(view, type);
        ControlLayout.SESSION.set(view, 0, SESSION);
        ControlLayout.RECEIVER.set(view, 0, receiver);
        return complete(made);
    }

    static byte[] complete(final byte[] datagram) {
        new ControlSealer(new Counts<>(ProtectionEvent.class))
                .complete(MemorySegment.ofArray(datagram), datagram.length);
        return datagram;
    }

    byte[] sealedToGroup(final byte[] plain) {
        load(plain);
        return copy(memory, 0, source.sealToGroup(memory, plain.length));
    }

    byte[] sealedToMember(final byte[] plain) {
        load(plain);
        return copy(memory, 0, source.sealToPeer(memory, plain.length));
    }

    byte[] sealedToSource(final Receiver from, final byte[] plain) {
        load(plain);
        return copy(memory, 0, from.protection.sealToPeer(memory, plain.length));
    }

    byte[] sealedToPeer(final Receiver from, final byte[] plain, final long senderId) {
        load(plain);
        return copy(memory, 0, from.protection.sealToMember(memory, plain.length, senderId));
    }

    private void load(final byte[] plain) {
        MemorySegment.copy(plain, 0, memory, ValueLayout.JAVA_BYTE, 0, plain.length);
    }

    /// Opens at the source.
    ///
    /// @return the plain datagram, empty where none came of it
    byte[] openAtSource(final byte[] bytes) {
        fill(bytes);
        return copy(memory, OFFSET, source.open(memory, OFFSET, bytes.length, nowNs));
    }

    byte[] openAt(final Receiver receiver, final byte[] bytes) {
        fill(bytes);
        return copy(memory, OFFSET, receiver.protection.open(memory, OFFSET, bytes.length, nowNs));
    }

    private void send(final byte[] to, final MemorySegment datagram, final int bytes) {
        send(to, copy(datagram, 0, bytes));
    }

    void send(final byte[] to, final byte[] datagram) {
        sent.add(datagram);
        final byte[] passed = tap.pass(to, datagram);
        if (passed == null || random.nextDouble() < loss) {
            return;
        }
        final int times = random.nextDouble() < repeat ? 2 : 1;
        for (int i = 0; i < times; i++) {
            final long late = random.nextDouble() < delay ? random.nextLong(100 * STEP_NS) : STEP_NS;
            network.add(new Packet(nowNs + late, to, passed));
        }
    }

    /// A heartbeat of the source to all.
    void announce() {
        final byte[] sealed = sealedToGroup(heartbeat());
        for (final Receiver receiver : receivers) {
            if (receiver.hears) {
                send(receiver.address, sealed);
            }
        }
    }

    void step() {
        nowNs += STEP_NS;
        final List<Packet> due =
                network.stream().filter(packet -> packet.dueNs <= nowNs).toList();
        network = new ArrayList<>(
                network.stream().filter(packet -> packet.dueNs > nowNs).toList());
        for (final Packet packet : due) {
            deliver(packet);
        }
        if (source.nextDeadlineNs() <= nowNs) {
            source.doWork(nowNs);
        }
        for (final Receiver receiver : receivers) {
            if (receiver.protection.nextDeadlineNs() <= nowNs) {
                receiver.protection.doWork(nowNs);
            }
        }
    }

    private void deliver(final Packet packet) {
        if (Arrays.equals(packet.to, SOURCE)) {
            final byte[] opened = openAtSource(packet.bytes);
            if (opened.length > 0) {
                sourceOpened.add(opened);
            }
            return;
        }
        for (final Receiver receiver : receivers) {
            if (Arrays.equals(packet.to, receiver.address)) {
                receiver.take(packet.bytes);
            }
        }
    }

    /// Runs for some time; the source announces itself every 50 ms.
    void run(final long forNs) {
        final long endNs = nowNs + forNs;
        for (int i = 0; nowNs < endNs; i++) {
            if (i % 50 == 0) {
                announce();
            }
            step();
        }
    }

    /// Makes one receiver and runs until it has keys.
    static AuthWorld ready(final long seed) {
        final AuthWorld world = new AuthWorld(seed);
        world.receiver("receiver1");
        world.run(20 * STEP_NS);
        return world;
    }

    Receiver first() {
        return receivers.getFirst();
    }

    static void put(final byte[] datagram, final int at, final byte[] bytes) {
        System.arraycopy(bytes, 0, datagram, at, bytes.length);
    }

    static int type(final byte[] datagram) {
        return datagram[1];
    }

    List<byte[]> sentOf(final int type) {
        return sent.stream().filter(datagram -> type(datagram) == type).toList();
    }

    @Override
    public void close() {
        receivers.forEach(receiver -> {
            receiver.protection.close();
            receiver.keys.close();
        });
        source.close();
        sourceKeys.close();
        arena.close();
    }

    static int longest(final int type) {
        return type == ControlLayout.TYPE_SOLICIT ? Wire.CONTROL_BYTES_MAX : ControlLayout.BODY_END_MAX;
    }
}
