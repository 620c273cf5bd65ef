package io.framecast.engine.aeron;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.framecast.api.Channel;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.BitUtil;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;

/// A measurement, not a test: the data lane against stock Aeron reliable multicast with the same MTU, term
/// length and buffers, on loopback, one process for each end, rounds interleaved. Arguments: rounds, then IP
/// MTUs.
final class LaneThroughput {
    private static final long WARM_UP_NS = TimeUnit.MILLISECONDS.toNanos(1_500);
    private static final long MEASURED_NS = TimeUnit.MILLISECONDS.toNanos(2_500);
    private static final int HEADER_BYTES = 40;
    private static final int MEMORY_BYTES = 16 << 20;
    private static final String GROUP = "239.66.77.91:24760";

    private LaneThroughput() {}

    public static void main(final String[] args) throws Exception {
        if (!args[0].contains("-")) {
            compare(args);
            return;
        }
        final int mtu = Integer.parseInt(args[1]);
        final int bufferBytes = Integer.parseInt(args[2]);
        switch (args[0]) {
            case "lane-source" -> laneSource(mtu, bufferBytes);
            case "lane-receiver" -> laneReceiver(mtu, bufferBytes, args[3]);
            case "stock-source" -> stockSource(mtu, bufferBytes);
            default -> stockReceiver(mtu, bufferBytes);
        }
    }

    private static void compare(final String[] args) throws Exception {
        final int rounds = Integer.parseInt(args[0]);
        for (final String mtu : Arrays.copyOfRange(args, 2, args.length)) {
            final double[] lane = new double[rounds];
            final double[] stock = new double[rounds];
            for (int i = 0; i < rounds; i++) {
                lane[i] = round("lane", mtu, args[1]);
                stock[i] = round("stock", mtu, args[1]);
            }
            System.out.println("mtu " + mtu + " lane " + Arrays.toString(lane) + " stock " + Arrays.toString(stock));
            Arrays.sort(lane);
            Arrays.sort(stock);
            System.out.printf(
                    "mtu %s MB/s median: lane %.0f stock %.0f ratio %.3f%n",
                    mtu, lane[rounds / 2], stock[rounds / 2], lane[rounds / 2] / stock[rounds / 2]);
        }
    }

    private static double round(final String what, final String mtu, final String buffer)
            throws IOException, InterruptedException {
        final Process source = start(what + "-source", mtu, buffer);
        final String address = source.inputReader().readLine();
        final Process receiver = start(what + "-receiver", mtu, buffer, address);
        final String result = receiver.inputReader().readLine();
        receiver.waitFor();
        source.destroy();
        source.waitFor();
        System.out.println(what + " " + mtu + ": " + result);
        return Double.parseDouble(result.substring(0, result.indexOf(' ')));
    }

    private static Process start(final String... args) throws IOException {
        final List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "--add-opens",
                "java.base/jdk.internal.misc=ALL-UNNAMED",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                LaneThroughput.class.getName()));
        command.addAll(List.of(args));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static Transport transport(final int mtu, final int bufferBytes) {
        return new AeronTransportProvider()
                .open(new TransportConfig(
                        Channel.parse("framecast:aeron?group=" + GROUP + "|interface=127.0.0.1|socket-buffer="
                                + bufferBytes + "|mtu=" + mtu),
                        System.err::println));
    }

    private static IdleStrategy idle() {
        return new BackoffIdleStrategy(10, 20, 1_000, 100_000);
    }

    private static void laneSource(final int mtu, final int bufferBytes) {
        final Transport transport = transport(mtu, bufferBytes);
        final int payloadBytes = transport.capabilities().datagramBytesMax() - HEADER_BYTES;
        final int slots = MEMORY_BYTES / payloadBytes;
        final SendRing ring = new SendRing(
                Arena.global().allocate((long) slots * HEADER_BYTES),
                HEADER_BYTES,
                Arena.global().allocate((long) slots * payloadBytes),
                payloadBytes,
                new int[slots]);
        Arrays.fill(ring.payloadLengths(), payloadBytes);
        final Lane lane = LanePair.source(transport, LaneKind.DATA, ring);
        System.out.println(lane.address());
        final IdleStrategy idle = idle();
        long sequence = 0;
        int slot = 0;
        while (true) {
            for (int i = 0; i < 16; i++) {
                ring.headers().set(JAVA_LONG, (long) ((slot + i) % slots) * HEADER_BYTES, sequence + i);
            }
            final int sent = lane.multicast(slot, 16);
            sequence += sent;
            slot = (slot + sent) % slots;
            idle.idle(sent);
        }
    }

    private static void laneReceiver(final int mtu, final int bufferBytes, final String source) {
        final Transport transport = transport(mtu, bufferBytes);
        final int payloadBytes = transport.capabilities().datagramBytesMax() - HEADER_BYTES;
        final int slots = MEMORY_BYTES / payloadBytes;
        final ReceiveRing ring = new ReceiveRing(
                Arena.global().allocate((long) slots * HEADER_BYTES),
                HEADER_BYTES,
                HEADER_BYTES,
                io.framecast.api.spi.DeviceRegion.ofHost(Arena.global().allocate((long) slots * payloadBytes)),
                payloadBytes,
                slots);
        final Lane lane = LanePair.receiver(
                transport, LaneKind.DATA, ring, new LaneAddress(HexFormat.of().parseHex(source)));
        final Completions completions = new Completions(64);
        final Meter meter = new Meter();
        final IdleStrategy idle = idle();
        long expected = -1;
        long lost = 0;
        int slot = 0;
        while (!meter.isDone()) {
            completions.clear();
            lane.post(slot, 64);
            final int count = lane.poll(completions);
            for (int i = 0; i < count; i++) {
                final long sequence = ring.headers().get(JAVA_LONG, (long) completions.slot(i) * HEADER_BYTES);
                lost += expected < 0 ? 0 : sequence - expected;
                expected = sequence + 1;
            }
            slot = (slot + count) % slots;
            meter.add(count * (long) payloadBytes);
            idle.idle(count);
        }
        System.out.println(meter.megabytesPerSecond() + " MB/s, lost " + lost + " of " + expected);
        transport.close();
    }

    private static Aeron stockClient() {
        final MediaDriver driver = MediaDriver.launchEmbedded(new MediaDriver.Context()
                .threadingMode(ThreadingMode.SHARED)
                .dirDeleteOnShutdown(true)
                .dirDeleteOnStart(true));
        Runtime.getRuntime().addShutdownHook(new Thread(driver::close));
        return Aeron.connect(new Aeron.Context().aeronDirectoryName(driver.aeronDirectoryName()));
    }

    private static String stockChannel(final int mtu, final int bufferBytes) {
        final int aeronMtu = Math.min(mtu - 28, 65_504) / 32 * 32;
        return "aeron:udp?endpoint=" + GROUP + "|interface=127.0.0.1|mtu=" + aeronMtu + "|term-length="
                + 2 * bufferBytes + "|rcv-wnd=" + bufferBytes + "|so-rcvbuf=" + bufferBytes + "|so-sndbuf="
                + bufferBytes;
    }

    private static void stockSource(final int mtu, final int bufferBytes) {
        final ExclusivePublication publication =
                stockClient().addExclusivePublication(stockChannel(mtu, bufferBytes), 10);
        System.out.println("ready");
        final int bytes = publication.maxPayloadLength();
        final int slots = MEMORY_BYTES / bytes;
        final UnsafeBuffer memory = new UnsafeBuffer(ByteBuffer.allocateDirect(BitUtil.align(slots * bytes, 64)));
        final IdleStrategy idle = idle();
        int slot = 0;
        while (true) {
            final boolean sent = publication.offer(memory, slot * bytes, bytes) > 0;
            slot = sent ? (slot + 1) % slots : slot;
            idle.idle(sent ? 1 : 0);
        }
    }

    private static void stockReceiver(final int mtu, final int bufferBytes) {
        final Subscription subscription = stockClient().addSubscription(stockChannel(mtu, bufferBytes), 10);
        final Meter meter = new Meter();
        final IdleStrategy idle = idle();
        while (!meter.isDone()) {
            final int count = subscription.poll(
                    (buffer, offset, length, header) -> meter.add(length - HEADER_BYTES + (buffer.getByte(offset) & 1)),
                    64);
            idle.idle(count);
        }
        System.out.println(meter.megabytesPerSecond() + " MB/s");
        // The driver and client threads are not daemons here.
        System.exit(0);
    }

    private static final class Meter {
        private long firstNs;
        private long startNs;
        private long endNs;
        private long bytes;

        void add(final long more) {
            if (more == 0) {
                return;
            }
            final long nowNs = System.nanoTime();
            firstNs = firstNs == 0 ? nowNs : firstNs;
            if (nowNs - firstNs < WARM_UP_NS) {
                return;
            }
            startNs = startNs == 0 ? nowNs : startNs;
            bytes += more;
            endNs = nowNs;
        }

        boolean isDone() {
            return startNs != 0 && endNs - startNs > MEASURED_NS;
        }

        double megabytesPerSecond() {
            return Math.rint(bytes * 1e3 / (endNs - startNs));
        }
    }
}
