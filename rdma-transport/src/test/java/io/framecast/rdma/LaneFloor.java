package io.framecast.rdma;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.framecast.api.Channel;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.VerbsLibrary;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The work of `lab/native/multicast.c` by the transport's lanes, on the same devices, in turns with it: one
/// round here, one there. Both send from one device to the others, on one thread, at most [#WINDOW] datagrams
/// ahead of the slower receiver, [#BATCH] to a call, and look at every byte. Called by `lab/floor.sh`:
///
///     LaneFloor PROGRAM PAYLOAD-BYTES DATAGRAMS ROUNDS SENDER RECEIVER…
///
/// One line: the medians of both, in nanoseconds per datagram, and the ratio of neighbours.
final class LaneFloor implements AutoCloseable {
    private static final int HEADER_BYTES = 40;
    private static final int WINDOW = 256;
    private static final int SLOTS = 2 * WINDOW;
    private static final int BATCH = 16;
    private static final int WARM_UPS = 10;
    private static final long MAGIC = 0x4c41424652414d45L;
    // A datagram that has not come by then was lost: nothing here loses any.
    private static final long PATIENCE_NS = 60_000_000_000L;
    private static final Pattern ROUND = Pattern.compile("round .* (\\d+) ns each:.*");

    private final Arena arena = Arena.ofShared();
    private final List<Transport> transports = new ArrayList<>();
    private final Lane source;
    private final SendRing window;
    private final List<Receiver> receivers = new ArrayList<>();
    private final MemorySegment pattern;
    private final int payloadBytes;
    private long first;

    /// A receiver's lane, and where it lands.
    private static final class Receiver {
        private final Lane lane;
        private final ReceiveRing ring;
        private final Completions completions = new Completions(BATCH);
        private int unposted = SLOTS;
        private int nextSlot;
        private long arrived;

        Receiver(final Lane lane, final ReceiveRing ring) {
            this.lane = lane;
            this.ring = ring;
        }

        void post(final int count) {
            final int posted = lane.post(nextSlot, count);
            nextSlot = (nextSlot + posted) % SLOTS;
            unposted -= posted;
        }
    }

    private LaneFloor(final int payloadBytes, final List<String> devices) {
        this.payloadBytes = payloadBytes;
        pattern = arena.allocate((long) payloadBytes + 256);
        for (int i = 0; i < pattern.byteSize(); i++) {
            pattern.set(java.lang.foreign.ValueLayout.JAVA_BYTE, i, (byte) i);
        }
        final int[] lengths = new int[SLOTS];
        Arrays.fill(lengths, payloadBytes);
        window = new SendRing(
                arena.allocate((long) SLOTS * HEADER_BYTES),
                HEADER_BYTES,
                arena.allocate((long) SLOTS * payloadBytes),
                payloadBytes,
                lengths);
        for (int slot = 0; slot < SLOTS; slot++) {
            MemorySegment.copy(pattern, 7 * slot % 256, window.payload(), (long) slot * payloadBytes, payloadBytes);
        }
        source = open(devices.getFirst())
                .open(new LaneConfig(LaneKind.DATA, LaneConfig.Role.SOURCE, window, null, null));
        for (final String device : devices.subList(1, devices.size())) {
            receivers.add(receiver(device));
        }
    }

    private Transport open(final String device) {
        final Transport transport = VerbsTransport.open(
                VerbsLibrary.load(),
                new TransportConfig(
                        Channel.parse("framecast:verbs?group=239.77.5.7:4000|channel=floor|interface=" + device),
                        _ -> {}));
        transports.add(transport);
        return transport;
    }

    private Receiver receiver(final String device) {
        final int stride = ReceiveSlots.RESERVE_BYTES + HEADER_BYTES;
        final ReceiveRing ring = new ReceiveRing(
                arena.allocate((long) SLOTS * stride),
                HEADER_BYTES,
                stride,
                DeviceRegion.ofHost(arena.allocate((long) SLOTS * payloadBytes)),
                payloadBytes,
                SLOTS);
        final Lane lane = open(device)
                .open(new LaneConfig(LaneKind.DATA, LaneConfig.Role.RECEIVER, null, ring, source.address()));
        final Receiver receiver = new Receiver(lane, ring);
        receiver.post(SLOTS);
        return receiver;
    }

    /// Sends datagrams until all have arrived.
    ///
    /// @return nanoseconds for each
    private double round(final int datagrams) {
        receivers.forEach(receiver -> receiver.arrived = 0);
        final long beginNs = System.nanoTime();
        long sent = 0;
        while (true) {
            long slowest = Long.MAX_VALUE;
            for (final Receiver receiver : receivers) {
                poll(receiver);
                slowest = Math.min(slowest, receiver.arrived);
            }
            if (slowest == datagrams) {
                first += datagrams;
                return (double) (System.nanoTime() - beginNs) / datagrams;
            }
            if (sent < datagrams
                    && sent - slowest <= WINDOW - BATCH
                    && first + sent - source.completed() <= WINDOW - BATCH) {
                sent += send(first + sent);
            }
            if (System.nanoTime() - beginNs > PATIENCE_NS) {
                throw new IllegalStateException(slowest + " of " + datagrams + " datagrams arrived everywhere");
            }
        }
    }

    private int send(final long sequence) {
        final int slot = (int) (sequence % SLOTS);
        for (int i = 0; i < BATCH; i++) {
            final long header = (long) (slot + i) * HEADER_BYTES;
            window.headers().set(JAVA_LONG_UNALIGNED, header, MAGIC);
            window.headers().set(JAVA_LONG_UNALIGNED, header + Long.BYTES, sequence + i);
        }
        final int taken = source.multicast(slot, BATCH);
        if (taken != BATCH) {
            throw new IllegalStateException(
                    "the lane took " + taken + " of " + BATCH + " datagrams, with room for all");
        }
        return taken;
    }

    private void poll(final Receiver receiver) {
        final Completions completions = receiver.completions;
        completions.clear();
        receiver.lane.poll(completions);
        for (int i = 0; i < completions.count(); i++) {
            check(receiver, completions.slot(i), completions.bytes(i));
        }
        receiver.arrived += completions.count();
        receiver.unposted += completions.count();
        if (receiver.unposted >= BATCH) {
            receiver.post(BATCH);
        }
    }

    private void check(final Receiver receiver, final int slot, final int bytes) {
        final ReceiveRing ring = receiver.ring;
        final long header = (long) slot * ring.headerStride() + ReceiveSlots.RESERVE_BYTES;
        final long sequence = ring.headers().get(JAVA_LONG_UNALIGNED, header + Long.BYTES);
        final long expected = 7 * (sequence % SLOTS) % 256;
        final long payload = (long) slot * payloadBytes;
        if (bytes != HEADER_BYTES + payloadBytes
                || ring.headers().get(JAVA_LONG_UNALIGNED, header) != MAGIC
                || sequence < first
                || MemorySegment.mismatch(
                                ring.payload().host(),
                                payload,
                                payload + payloadBytes,
                                pattern,
                                expected,
                                expected + payloadBytes)
                        >= 0) {
            throw new IllegalStateException("datagram " + sequence + " of " + bytes + " bytes arrived wrong");
        }
    }

    @Override
    public void close() {
        transports.reversed().forEach(Transport::close);
        arena.close();
    }

    public static void main(final String[] arguments) throws IOException {
        final int payloadBytes = Integer.parseInt(arguments[1]);
        final int datagrams = Integer.parseInt(arguments[2]) / BATCH * BATCH;
        final int rounds = Integer.parseInt(arguments[3]);
        final List<String> devices = List.of(arguments).subList(4, arguments.length);
        final List<String> command = new ArrayList<>(List.of(arguments[0], "-i"));
        command.addAll(List.of("-p", arguments[1], "-n", "" + datagrams, "-r", "" + (WARM_UPS + rounds)));
        command.addAll(devices);
        final double[] here = new double[rounds];
        final double[] there = new double[rounds];
        final double[] ratios = new double[rounds];
        final Process program = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (LaneFloor floor = new LaneFloor(payloadBytes, devices);
                OutputStream begins = program.getOutputStream();
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(program.getInputStream(), StandardCharsets.UTF_8))) {
            for (int i = -WARM_UPS; i < rounds; i++) {
                final double javaNs = floor.round(datagrams);
                begins.write('\n');
                begins.flush();
                final double cNs = reportedNs(lines.readLine());
                if (i >= 0) {
                    here[i] = javaNs;
                    there[i] = cNs;
                    ratios[i] = javaNs / cNs;
                }
            }
        } finally {
            program.destroy();
        }
        Arrays.sort(here);
        Arrays.sort(there);
        Arrays.sort(ratios);
        System.out.printf(
                Locale.ROOT,
                "payload %d: Java %.0f ns, C %.0f ns, ratio %.2f (%.2f to %.2f in %d rounds of %d)%n",
                payloadBytes,
                here[rounds / 2],
                there[rounds / 2],
                ratios[rounds / 2],
                ratios[0],
                ratios[rounds - 1],
                rounds,
                datagrams);
    }

    private static double reportedNs(final String line) {
        final Matcher matcher = ROUND.matcher(String.valueOf(line));
        if (!matcher.matches()) {
            throw new IllegalStateException("the program in C said: " + line);
        }
        return Double.parseDouble(matcher.group(1));
    }
}
