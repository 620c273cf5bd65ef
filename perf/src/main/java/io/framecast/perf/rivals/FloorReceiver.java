package io.framecast.perf.rivals;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.framecast.engine.libc.Linux;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.LinuxSocket;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/// The floor's receiver: datagrams land in a ring of frame memory in order of arrival, numbers between the
/// payload; it looks at each number, and returns one credit per frame.
final class FloorReceiver implements AutoCloseable {
    private static final int RING_FRAMES = 3;
    private static final int RING_BYTES_MIN = 1 << 20;
    private static final int PLAIN_MESSAGES = 64;
    private static final int MESSAGE_ROOM = 1 << 16;
    // Framecast's transport asks for as much.
    private static final int BUFFER_BYTES = 8 << 20;
    private static final long WAIT_MS = 20;
    private static final int DONE_CREDITS = 3;
    private static final String LOOPBACK = "127.0.0.1";
    // Delivery on loopback happens within the send, but may be left to a kernel thread under load.
    private static final int CHARGE_TRIES_MAX = 100_000;
    private static final long SILENCE_MAX_NS = TimeUnit.SECONDS.toNanos(30);

    private final FloorShape shape;
    private final LinuxSocket data;
    private final LinuxSocket back;
    private final FloorMessages messages;
    private final FloorMessages credit;
    private final MemorySegment creditMemory;
    private final MemorySegment ring;
    private final long ringBytes;
    private final boolean batching;
    private final int messageRoom;
    private final long creditDatagrams;
    private final GoodputMeter meter;
    private long position;
    private long next;
    private long credited;
    private int index;
    private boolean whole;
    private long dueNs;
    private boolean last;
    private boolean done;

    FloorReceiver(final Arena arena, final StreamSpec spec) {
        shape = FloorShape.of(spec);
        meter = new GoodputMeter(spec);
        batching = shape.segments() > 1;
        data = LinuxSocket.udp(arena);
        data.option(Linux.SOL_SOCKET, Linux.SO_REUSEADDR, 1);
        data.bind(spec.link().group(), spec.link().port());
        if (batching) {
            data.option(Linux.SOL_UDP, Linux.UDP_GRO, 1);
        }
        final int asked = spec.link().socketBufferBytes();
        final long bufferBytes = data.sizeReceiveBuffer(asked == 0 ? BUFFER_BYTES : asked);
        data.receiveTimeout(WAIT_MS);
        back = LinuxSocket.udp(arena);
        back.bind(spec.localAddress(), 0);
        back.connect(spec.link().sourceAddress(), spec.link().port() + FloorCredits.PORT_OFFSET);

        final long room = shape.roomDatagrams(bufferBytes, chargedBytes(shape.datagramBytes()));
        creditDatagrams = FloorShape.creditDatagrams(shape.burstDatagrams(), room);
        creditMemory = arena.allocate(FloorCredits.BYTES, Long.BYTES);
        creditMemory.set(JAVA_LONG, 0, spec.index());
        creditMemory.set(JAVA_LONG, FloorCredits.ROOM, room);
        credit = new FloorMessages(arena, 1);
        credit.aim(0, creditMemory.address(), FloorCredits.BYTES);

        messages = new FloorMessages(arena, batching ? 1 : PLAIN_MESSAGES);
        messageRoom = batching ? MESSAGE_ROOM : shape.datagramBytes();
        ringBytes = Math.max(RING_BYTES_MIN, RING_FRAMES * shape.burstWireBytes());
        ring = arena.allocate(ringBytes + (long) messages.count() * messageRoom, Long.BYTES);
        ring.fill((byte) 1);
        data.join(spec.link().group(), spec.localAddress());
    }

    // The charge of one datagram on a receive buffer: one is sent to itself. The kernel charges the memory that
    // holds a packet (its truesize), not its bytes. A datagram within a batch costs less than one alone.
    private static long chargedBytes(final int bytes) {
        try (Arena arena = Arena.ofConfined();
                LinuxSocket socket = LinuxSocket.udp(arena)) {
            socket.bind(LOOPBACK, 0);
            socket.connectToItself();
            final MemorySegment payload = arena.allocate(bytes);
            final FloorMessages messages = new FloorMessages(arena, 1);
            messages.aim(0, payload.address(), bytes);
            messages.send(socket, 0, 1);
            for (int i = 0; i < CHARGE_TRIES_MAX; i++) {
                final long charged = socket.chargedBytes();
                if (charged > 0) {
                    return charged;
                }
                Thread.onSpinWait();
            }
        }
        throw new IllegalStateException("floor: the kernel charges nothing for a datagram on loopback");
    }

    ReceiverReport run() {
        giveCredit();
        long heardNs = System.nanoTime();
        while (!done) {
            aim();
            final int count = messages.receive(data, Linux.MSG_WAITFORONE);
            if (count == 0) {
                giveCredit();
                if (System.nanoTime() - heardNs > SILENCE_MAX_NS) {
                    throw new IllegalStateException("the publisher is gone");
                }
                continue;
            }
            for (int i = 0; i < count; i++) {
                onMessage(position + (long) i * messageRoom, messages.length(i), messages.segmentBytes(i));
            }
            position += batching ? messages.length(0) : (long) count * messageRoom;
            if (next - credited >= creditDatagrams) {
                giveCredit();
                heardNs = System.nanoTime();
            }
        }
        final ReceiverReport report = meter.report();
        creditMemory.set(JAVA_LONG, FloorCredits.DONE, 1);
        for (int i = 0; i < DONE_CREDITS; i++) {
            giveCredit();
        }
        return report;
    }

    private void aim() {
        if (position >= ringBytes) {
            position = 0;
        }
        for (int i = 0; i < messages.count(); i++) {
            messages.aim(i, ring.address() + position + (long) i * messageRoom, messageRoom);
            if (batching) {
                messages.expectControl(i);
            }
        }
    }

    private void onMessage(final long offset, final int length, final int segmentBytes) {
        for (int at = 0; at + FloorShape.HEADER_BYTES <= length && !done; at += segmentBytes) {
            final long number = ring.get(JAVA_LONG_UNALIGNED, offset + at);
            if (number == FloorShape.END) {
                meter.onEnd(ring.get(JAVA_LONG_UNALIGNED, offset + at + Long.BYTES));
                done = true;
            } else if (number >= next) {
                onDatagram(number, offset + at + FloorShape.HEADER_BYTES);
            }
        }
    }

    private void onDatagram(final long number, final long payload) {
        if (number > next) {
            index = (int) (number % shape.frameDatagrams());
            whole = false;
        }
        next = number + 1;
        if (index == 0) {
            whole = true;
            final FrameContent.Stamp stamp = FrameContent.read(ring, payload);
            dueNs = stamp.dueNs();
            last = stamp.is(FrameContent.Stamp.LAST);
        }
        index++;
        if (index == shape.frameDatagrams()) {
            index = 0;
            if (whole) {
                meter.onFrame(number / shape.frameDatagrams(), dueNs, shape.frameBytes());
                done = last;
            }
        }
    }

    private void giveCredit() {
        credited = next;
        creditMemory.set(JAVA_LONG, FloorCredits.NEXT, next);
        credit.sendAnyway(back);
    }

    @Override
    public void close() {
        back.close();
        data.close();
    }
}
