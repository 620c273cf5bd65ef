package io.framecast.reliability.session;

import static io.framecast.fuzz.FuzzLimits.require;
import static io.framecast.fuzz.FuzzLimits.requireAllocation;

import io.framecast.fuzz.FuzzCorpus;
import io.framecast.fuzz.FuzzInput;
import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.send.CoRootConfig;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.Wire;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// A source and up to three receivers, as in production but for lanes in memory, and an attacker that knows the
/// session. It changes genuine datagrams and sets their checksums right, or makes datagrams of its own. An input
/// is a script: two bytes choose delivery, placement and roles, then each step is a byte and its operands.
///
/// Nothing throws, no sequence runs away, memory stays bounded, and each cycle comes to rest. An attacker may well cut
/// a stream off or feed it wrong bytes, so frames are not compared.
public final class SessionFuzzTest {
    private static final long ALLOCATED_MAX = 256L << 20;
    private static final int STEPS_MAX = 200;
    private static final int KEPT = 32;
    private static final long MS = SessionWorld.MS;
    private static final int[] PAUSES_MS = {0, 1, 5, 20, 100, 400, 1_100, 5_000};

    // Steps.
    private static final int PUBLISH = 0;
    private static final int PUBLISH_SMALL = 1;
    private static final int RUN = 2;
    private static final int CYCLE = 3;
    private static final int POLL = 4;
    private static final int CHANGE_CONTROL = 5;
    private static final int FORGE_CONTROL = 6;
    private static final int CHANGE_DATA = 7;
    private static final int FORGE_DATA = 8;
    private static final int LOSE = 9;
    private static final int END = 10;
    private static final int CONNECT = 11;
    private static final int JOIN = 12;
    private static final int STEPS = 13;

    @TestFactory
    Stream<DynamicTest> shouldKeepGoingWhateverArrives() {
        final Map<String, byte[]> seeds = new HashMap<>();
        for (int setup = 0; setup < 32; setup += 5) {
            for (final int terms : new int[] {0, 1, 2, 3, 4, 8, 64, 16 + 32}) {
                seeds.put("plain-" + setup + "-" + terms, script(setup, terms, 1));
            }
        }
        // Jazzer makes inputs about as long as the longest of the corpus.
        seeds.put("long", script(31, 64, 6));
        return FuzzCorpus.of(SessionFuzzTest.class, seeds, SessionFuzzTest::fuzzerTestOneInput);
    }

    // Joins; publishes, loses and forges a little, some times; and ends.
    private static byte[] script(final int setup, final int terms, final int times) {
        final ByteArrayOutputStream steps = new ByteArrayOutputStream();
        steps.writeBytes(new byte[] {(byte) setup, (byte) terms, RUN, 3, CONNECT});
        for (int i = 0; i < times; i++) {
            steps.writeBytes(new byte[] {PUBLISH, 2, 0, RUN, 1, PUBLISH_SMALL, 40, PUBLISH_SMALL, 9, RUN, 2});
            steps.writeBytes(new byte[] {LOSE, 1, PUBLISH, 3, 5, RUN, 2, LOSE, 0, RUN, 3, POLL, 0});
            steps.writeBytes(new byte[] {CHANGE_CONTROL, 0, 1, 1, 48, 7, CHANGE_DATA, 0, 1, 1, 17, 1, RUN, 2});
            steps.writeBytes(new byte[] {FORGE_CONTROL, 0, 6, 80, 1, 2, 3, PUBLISH, 1, 1, JOIN, 0, RUN, 4, POLL, 1});
        }
        steps.writeBytes(new byte[] {END, RUN, 5, POLL, 0});
        return steps.toByteArray();
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        requireAllocation(ALLOCATED_MAX, () -> new Attack(new FuzzInput(input)).play());
    }

    private static final class Attack {
        // Datagrams that the attacker heard.
        private final ArrayDeque<byte[]> heard = new ArrayDeque<>();
        private final SessionWorld world;
        private final FuzzInput in;
        private boolean ended;

        Attack(final FuzzInput in) {
            this.in = in;
            final int setup = in.unsignedByte();
            final boolean oneSided = (setup & 1) != 0;
            final CoRootConfig coRoots = switch (setup >>> 1 & 3) {
                case 0, 1 -> CoRootConfig.NONE;
                case 2 -> new CoRootConfig(1, CoRootConfig.Feed.MULTICAST);
                default -> new CoRootConfig(1, CoRootConfig.Feed.UNICAST);
            };
            final SessionWorld.Setup base = SessionWorld.Setup.PLAIN.coRoots(coRoots);
            world = new SessionWorld(oneSided ? base.withOneSided() : base);
            world.onData = this::hear;
            final int terms = in.unsignedByte();
            final Delivery delivery = switch (terms & 3) {
                case 0 -> Delivery.RELIABLE;
                case 1 -> Delivery.deadline(40);
                case 2 -> Delivery.LATEST;
                default -> Delivery.evict(100);
            };
            ReceiverFixture.Terms chosen = ReceiverFixture.Terms.of(delivery).in(Kind.values()[(terms >>> 2 & 3) % 3]);
            // A staged receiver has no reassembly buffers; a co-root keeps all it gets.
            chosen = (terms >>> 2 & 3) % 3 == Kind.STAGED.ordinal() ? chosen.buffers(0) : chosen;
            chosen = (terms & 16) != 0 ? chosen.mappedOnce() : chosen;
            chosen = (terms & 32) != 0 ? chosen.atKeyframe() : chosen;
            chosen = (terms & 64) != 0 && delivery.isWaitedFor() ? chosen.serving() : chosen;
            final int receivers = 1 + (setup >>> 3 & 1) + (setup >>> 4 & 1);
            for (int i = 0; i < receivers; i++) {
                world.receiver(chosen).machine.start(world.nowNs);
            }
        }

        void play() {
            for (int i = 0; i < STEPS_MAX && !in.isEmpty(); i++) {
                step(in.below(STEPS));
                for (final ReceiverFixture receiver : world.receivers) {
                    require(
                            receiver.machine.acknowledgedSequence() <= receiver.machine.grantedSequence()
                                    || receiver.machine.state() != State.RECEIVING,
                            "an acknowledgement within the grant");
                }
                require(world.source.machine.nextSequence() >= 0, "a sequence");
            }
            world.run(MS);
        }

        private void step(final int kind) {
            switch (kind) {
                case PUBLISH -> publish(1 + in.below(SessionWorld.FRAME_MAX_SLOTS), in.below(4));
                case PUBLISH_SMALL -> publishSmall(1 + in.below(100));
                case RUN -> world.run(PAUSES_MS[in.below(PAUSES_MS.length)] * MS);
                case CYCLE -> {
                    world.source.cycle();
                    world.receivers.get(in.below(world.receivers.size())).cycle();
                }
                case POLL -> {
                    final ReceiverFixture receiver = world.receivers.get(in.below(world.receivers.size()));
                    receiver.consumer.discard();
                }
                case CHANGE_CONTROL ->
                    deliverControl(change(latest(world.controls), ControlLayout.LENGTH), in.unsignedByte());
                case FORGE_CONTROL -> deliverControl(forgeControl(), in.unsignedByte());
                case CHANGE_DATA -> deliverData(change(heardDatagram(), DataLayout.LENGTH), in.unsignedByte());
                case FORGE_DATA -> deliverData(forgeData(), in.unsignedByte());
                case LOSE -> {
                    final int every = in.below(8);
                    world.dataLost = (_, sequence) -> every > 0 && sequence % every == 0;
                    world.controlsLost = every == 7;
                }
                case END -> end();
                case CONNECT -> world.connect();
                default -> {
                    final ReceiverFixture receiver = world.receivers.get(in.below(world.receivers.size()));
                    if (receiver.machine.state() != State.RECEIVING) {
                        receiver.machine.start(world.nowNs);
                    }
                }
            }
        }

        private void publish(final int slots, final int flags) {
            if (!ended && world.source.window.freeSlots() >= 2 * slots) {
                final byte[] metadata = (flags & 2) == 0 ? new byte[0] : in.take(in.below(8));
                world.source.publish(slots * SessionWorld.SLOT_BYTES, flags & 1, metadata);
            }
        }

        private void publishSmall(final int bytes) {
            if (!ended && world.source.window.freeSlots() >= 4) {
                world.source.publishSmall(bytes, 0);
            }
        }

        private void end() {
            if (!ended) {
                ended = true;
                world.source.small.close();
                world.source.machine.end(world.nowNs);
            }
        }

        private void hear(final byte[] datagram) {
            heard.addFirst(datagram);
            if (heard.size() > KEPT) {
                heard.removeLast();
            }
        }

        private byte[] heardDatagram() {
            final List<byte[]> all = new ArrayList<>(heard);
            return all.isEmpty() ? new byte[0] : all.get(in.below(all.size()));
        }

        // Of the newest: of what receivers sent too, where it waits.
        private byte[] latest(final List<byte[]> sent) {
            final List<byte[]> all = new ArrayList<>(sent.subList(Math.max(0, sent.size() - KEPT), sent.size()));
            all.addAll(world.source.inbox);
            world.receivers.forEach(receiver -> all.addAll(receiver.controlInbox));
            return all.isEmpty() ? new byte[0] : all.get(in.unsignedByte() % all.size());
        }

        // A copy with some numbers changed; the positions count from the front.
        private byte[] change(final byte[] genuine, final int header) {
            final byte[] changed = genuine.clone();
            for (int i = 1 + in.below(4); i > 0 && changed.length >= header; i--) {
                final int at = in.unsignedByte() % changed.length;
                final byte[] value = in.isSet() ? in.take(1) : in.take(8);
                System.arraycopy(value, 0, changed, at, Math.min(value.length, changed.length - at));
            }
            return changed;
        }

        private byte[] forgeControl() {
            final int type = in.below(20);
            final byte[] datagram = new byte[ControlLayout.LENGTH + in.unsignedByte() + 4 * (in.unsignedByte() & 0xf0)];
            final byte[] body = in.take(Math.min(in.below(64), datagram.length - ControlLayout.LENGTH));
            final ByteBuffer view = view(datagram);
            view.put(1, (byte) type);
            view.putLong(ControlLayout.RECEIVER.at(), in.isSet() ? 10 + in.below(3) : 0);
            view.putInt(ControlLayout.EPOCH.at(), in.below(5));
            view.put(ControlLayout.LENGTH, body);
            return datagram;
        }

        private byte[] forgeData() {
            final byte[] datagram =
                    new byte[DataLayout.LENGTH + Math.min(SessionWorld.SLOT_BYTES, 1 + in.unsignedByte())];
            final ByteBuffer view = view(datagram);
            view.put(1, (byte) in.unsignedByte());
            view.putLong(DataLayout.TIMESTAMP.at(), in.wide());
            view.putShort(2, (short) in.unsignedByte());
            view.putLong(DataLayout.SEQUENCE.at(), in.unsignedByte());
            view.putInt(DataLayout.FRAME_ID.at(), in.unsignedByte());
            view.putInt(DataLayout.FRAME_BYTES.at(), in.unsignedByte() * in.unsignedByte());
            view.putInt(DataLayout.FRAME_INDEX.at(), in.below(16));
            return datagram;
        }

        private void deliverControl(final byte[] datagram, final int to) {
            if (datagram.length >= ControlLayout.LENGTH && datagram.length <= Wire.CONTROL_BYTES_MAX) {
                final ByteBuffer view = view(datagram);
                datagram[0] = (byte) (Wire.VERSION << 4 | 3);
                view.putShort(2, (short) datagram.length);
                view.putLong(ControlLayout.SESSION.at(), SessionWorld.SESSION);
                view.put(29, (byte) 0);
                view.putInt(4, 0);
                view.putInt(4, crc(datagram, datagram.length));
            }
            if (to % (1 + world.receivers.size()) == 0) {
                world.source.inbox.add(datagram);
            } else {
                world.receivers
                        .get(to % (1 + world.receivers.size()) - 1)
                        .controlInbox
                        .add(datagram);
            }
        }

        private void deliverData(final byte[] datagram, final int to) {
            if (datagram.length < DataLayout.LENGTH) {
                return;
            }
            final ByteBuffer view = view(datagram);
            datagram[0] = (byte) (Wire.VERSION << 4 | (to & 128) >>> 7 | 1);
            view.putInt(DataLayout.SESSION_TAG.at(), (int) SessionWorld.SESSION);
            view.putInt(4, (int) (SessionWorld.SESSION >>> 32));
            view.putInt(4, crc(datagram, DataLayout.LENGTH));
            final ReceiverFixture receiver = world.receivers.get((to >>> 1) % world.receivers.size());
            ((to & 1) == 0 ? receiver.data : receiver.repair).inbox.add(datagram);
        }

        private static int crc(final byte[] bytes, final int length) {
            final CRC32C crc = new CRC32C();
            crc.update(bytes, 0, length);
            return (int) crc.getValue();
        }

        private static ByteBuffer view(final byte[] bytes) {
            return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        }
    }
}
