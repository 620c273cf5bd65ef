package io.framecast.perf.litmus;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/// A node in a process whose libcuda is the stub: a subscriber on the GPU, one in host memory, and a fault.
/// Reports one line per finding, `key<tab>value`.
final class CudaFaultsChild {
    private static final long WAIT_NS = 60_000_000_000L;
    private static final int FRAME_BYTES = 64 << 10;
    private static final int FRAMES_BEFORE = 10;
    private static final int FRAMES_AFTER = 40;
    private static final List<String> LIVE =
            List.of("contexts", "device", "pinned", "registered", "streams", "events", "modules");

    private final Arena arena = Arena.ofShared();
    private final MemorySegment sent = arena.allocate(FRAME_BYTES);
    private final Framecast node = Framecast.launch(NodeConfig.DEFAULT.withNotices(_ -> {}));
    private final String group;
    private final Subscriber other;
    private final Publisher publisher;
    private final List<DeviceFrame> held = new ArrayList<>();
    private final List<String> changed = new ArrayList<>();
    private String current = "";
    private long round;

    private CudaFaultsChild(final int port) {
        group = "framecast:udp?group=224.20.30.48:" + port + "|interface=127.0.0.1|frame-max=" + FRAME_BYTES
                + "|device=";
        other = node.subscribe(Channel.parse(group + "host"));
        publisher = node.publish(other.channel());
        await(() -> publisher.readySubscribers() == 1, "the other is ready");
    }

    /// @param arguments `lost` and a code, `scarce` and a function, or `old` or `other` and nothing; then a port
    public static void main(final String[] arguments) throws Throwable {
        final CudaFaultsChild child = new CudaFaultsChild(Integer.parseInt(arguments[2]));
        switch (arguments[0]) {
            case "lost" -> child.lose(Integer.parseInt(arguments[1]));
            case "scarce" -> child.refuse(arguments[1]);
            case "old" -> child.loadNewer();
            case "other" -> child.keepContext();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        report("other", child.other.state().toString());
        child.node.close();
        report("left", left());
    }

    private Subscriber subscribe() {
        final Subscriber subscriber = node.subscribe(Channel.parse(group + "cuda:0"));
        await(() -> publisher.readySubscribers() == 2, () -> "the GPU is ready: " + subscriber.failure());
        return subscriber;
    }

    // The user holds a frame when it happens, and gives it back later.
    private void lose(final int code) throws Throwable {
        final Subscriber lost = subscribe();
        stream(lost, FRAMES_BEFORE);
        publish();
        receiveHost();
        held.add(next(lost));
        invoke("framecast_stub_break", code);
        stream(null, FRAMES_AFTER);
        await(() -> lost.state() == Subscriber.State.FAILED, "it is notified");
        report("failure", lost.failure().orElse(""));
        lost.poll();
        held.forEach(DeviceFrame::close);
        lost.close();
        await(() -> lost.device().allocatedBytes() == 0, "its memory is given up");
        await(() -> contexts() == 0, "its context is retained no more");
        report("left-of-backend", lost.device().resources().toString());
        report("contexts", Long.toString(contexts()));
        invoke("framecast_stub_break", 0);
        invoke("framecast_stub_reset");
        final Subscriber again = subscribe();
        stream(again, FRAMES_BEFORE);
        report("again", again.state().toString());
    }

    private void refuse(final String function) throws Throwable {
        fail(function, 2);
        final Subscriber scarce = node.subscribe(Channel.parse(group + "cuda:0"));
        await(() -> scarce.failure().isPresent(), "it is notified");
        stream(null, FRAMES_AFTER);
        report("failure", scarce.failure().orElse(""));
        fail("", 0);
    }

    private void loadNewer() {
        final Subscriber subscriber = subscribe();
        final byte[] newer = new String(LitmusKernels.ptx(), StandardCharsets.UTF_8)
                .replaceFirst("\\.version \\S+", ".version 9.0")
                .getBytes(StandardCharsets.UTF_8);
        try {
            subscriber.device().load(new KernelSource("litmus_fill", () -> newer, (_, _, _, _) -> {}));
            report("failure", "");
        } catch (final DeviceException e) {
            report("failure", e.getMessage());
        }
        stream(subscriber, FRAMES_AFTER);
    }

    // A user's own context is current on the user's thread, and nothing of the engine's is valid in it.
    private void keepContext() throws Throwable {
        subscribe().close();
        try (Arena scratch = Arena.ofConfined()) {
            final MethodHandle create = stub(
                    "cuCtxCreate_v2",
                    FunctionDescriptor.of(
                            ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
            require((int) create.invokeExact(scratch.allocate(ValueLayout.ADDRESS), 0, 0) == 0, "a context");
        }
        current = context();
        await(() -> publisher.readySubscribers() == 1, "the first has left");
        final Subscriber gpu = subscribe();
        keeps("subscribe");
        final DeviceRegion buffer = gpu.device().allocate(FRAME_BYTES);
        for (int i = 0; i < FRAMES_BEFORE; i++) {
            if (i % 2 == 0) {
                gpu.post(buffer);
                keeps("post");
            }
            publish();
            receiveHost();
            use(gpu);
        }
        gpu.device().free(buffer);
        publishFromDevice();
        gpu.close();
        keeps("close");
        report("changed", String.join(", ", changed));
    }

    private void use(final Subscriber gpu) throws Throwable {
        final MemorySegment copy = gpu.device().allocatePinned(FRAME_BYTES);
        final DeviceFrame frame = next(gpu);
        keeps("poll");
        frame.awaitReady();
        keeps("awaitReady");
        final DeviceStream stream = frame.stream();
        keeps("stream");
        stream.copyToHost(copy, 0, frame.region().address(), FRAME_BYTES);
        keeps("copyToHost");
        frame.release(stream);
        keeps("release");
        stream.synchronize();
        keeps("synchronize");
        require(LitmusKernels.wrongWords(copy, round) == 0, "frame " + round + " differs on the GPU");
        gpu.device().freePinned(copy);
        keeps("freePinned");
    }

    private void publishFromDevice() throws Throwable {
        final Subscriber taker = node.subscribe(Channel.parse(group + "host|channel=cam2"));
        final Publisher source = node.publish(Channel.parse(group + "cuda:0|channel=cam2"));
        await(() -> source.readySubscribers() == 1, "who takes from the GPU is ready");
        final DeviceBackend device = source.device();
        keeps("device");
        final DeviceRegion memory = device.allocate(FRAME_BYTES);
        try (DeviceStream stream = device.openStream();
                DeviceEvent written = device.openEvent()) {
            stream.copyToDevice(memory.address(), sent, 0, FRAME_BYTES);
            stream.record(written);
            await(() -> source.offer(memory, written, FrameOptions.DEFAULT) > 0, "the frame is taken");
            keeps("offer");
            try (DeviceFrame frame = next(taker)) {
                require(LitmusKernels.wrongWords(frame.region().host(), round) == 0, "the GPU's frame differs");
            }
        }
        source.close();
        keeps("close of a source");
        taker.close();
    }

    private static String context() throws Throwable {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            final MethodHandle get =
                    stub("cuCtxGetCurrent", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
            require((int) get.invokeExact(out) == 0, "the current context is known");
            final int depth = (int) stub("framecast_stub_depth", FunctionDescriptor.of(ValueLayout.JAVA_INT))
                    .invokeExact();
            return out.get(ValueLayout.ADDRESS, 0) + " of " + depth;
        }
    }

    private void keeps(final String call) throws Throwable {
        final String now = context();
        if (!now.equals(current)) {
            changed.add(call + ": " + current + " became " + now);
            current = now;
        }
    }

    private void stream(final Subscriber gpu, final int frames) {
        for (int i = 0; i < frames; i++) {
            publish();
            receiveHost();
            if (gpu != null) {
                receive(gpu);
            }
        }
    }

    private void publish() {
        LitmusKernels.write(sent, ++round);
        await(
                () -> {
                    final long code = publisher.offer(sent, FrameOptions.DEFAULT);
                    if (code == Publisher.BACK_PRESSURED) {
                        publisher.awaitRoom(FRAME_BYTES, Duration.ofMillis(20));
                    }
                    return code > 0;
                },
                "frame " + round + " is taken");
    }

    private DeviceFrame next(final Subscriber subscriber) {
        await(() -> subscriber.awaitFrame(Duration.ofMillis(20)), "frame " + round + " comes");
        return subscriber.poll();
    }

    private void receiveHost() {
        try (DeviceFrame frame = next(other)) {
            require(LitmusKernels.wrongWords(frame.region().host(), round) == 0, "frame " + round + " differs");
        }
    }

    private void receive(final Subscriber gpu) {
        final MemorySegment copy = gpu.device().allocatePinned(FRAME_BYTES);
        try (DeviceFrame frame = next(gpu);
                DeviceStream stream = gpu.device().openStream()) {
            stream.await(frame.ready());
            stream.copyToHost(copy, 0, frame.region().address(), FRAME_BYTES);
            stream.synchronize();
            require(LitmusKernels.wrongWords(copy, round) == 0, "frame " + round + " differs on the GPU");
        }
        gpu.device().freePinned(copy);
    }

    private static void await(final BooleanSupplier condition, final String what) {
        await(condition, () -> what);
    }

    private static void await(final BooleanSupplier condition, final java.util.function.Supplier<String> what) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            require(System.nanoTime() - startNs < WAIT_NS, what.get());
            Thread.onSpinWait();
        }
    }

    private static void require(final boolean condition, final String what) {
        if (!condition) {
            System.out.println("waited in vain: " + what);
            System.exit(1);
        }
    }

    // By the driver's own books.
    private static String left() throws Throwable {
        final StringBuilder left = new StringBuilder();
        for (final String what : LIVE) {
            final long count = live(what);
            left.append(count == 0 ? "" : " " + count + " " + what);
        }
        return left.toString().strip();
    }

    private static long contexts() {
        try {
            return live("contexts");
        } catch (final Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static MethodHandle stub(final String function, final FunctionDescriptor shape) {
        final SymbolLookup library = SymbolLookup.libraryLookup("libcuda.so.1", Arena.global());
        return Linker.nativeLinker().downcallHandle(library.findOrThrow(function), shape);
    }

    private static long live(final String what) throws Throwable {
        final MethodHandle handle =
                stub("framecast_stub_live", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
        try (Arena scratch = Arena.ofConfined()) {
            return (long) handle.invokeExact(scratch.allocateFrom(what));
        }
    }

    private static void invoke(final String function, final int argument) throws Throwable {
        stub(function, FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT)).invokeExact(argument);
    }

    private static void invoke(final String function) throws Throwable {
        stub(function, FunctionDescriptor.ofVoid()).invokeExact();
    }

    private static void fail(final String function, final int code) throws Throwable {
        final MethodHandle handle =
                stub("framecast_stub_fail", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        try (Arena scratch = Arena.ofConfined()) {
            handle.invokeExact(scratch.allocateFrom(function), code);
        }
    }

    private static void report(final String key, final String value) {
        System.out.println(key + "\t" + value);
    }
}
