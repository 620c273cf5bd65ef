package io.framecast.perf.rivals;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.framecast.engine.libc.Linux;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.LinuxSocket;
import io.framecast.perf.harness.ProcessCost;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/// The floor's publisher: frames lie in slots of memory as they are sent, with all that the kernel gets about
/// them; what is written per frame is its stamp and the numbers of its datagrams.
final class FloorSource implements AutoCloseable {
    private static final int SLOTS_MIN = 2;
    private static final int SLOTS_MAX = 16;
    // A small memory that is sent again and again stays in the caches.
    private static final long SLOTS_BYTES = 4L << 20;
    private static final int SEND_BUFFER_BYTES = 4 << 20;
    private static final int CALL_MESSAGES_MAX = 64;
    private static final int END_BYTES = 2 * Long.BYTES;
    private static final long END_MAX_NS = TimeUnit.SECONDS.toNanos(30);

    private final FloorShape shape;
    private final LinuxSocket socket;
    private final FloorCredits credits;
    private final MemorySegment memory;
    private final long slotBytes;
    private final FloorMessages[] slots;
    private final FloorMessages end;
    private final MemorySegment endMemory;
    private long sentDatagrams;
    private long sentBytes;
    private FrameSource.Traffic before = FrameSource.Traffic.NONE;

    FloorSource(final Arena arena, final StreamSpec spec) {
        shape = FloorShape.of(spec);
        socket = LinuxSocket.udp(arena);
        socket.multicastBy(spec.localAddress());
        socket.sizeSendBuffer(SEND_BUFFER_BYTES);
        if (shape.segments() > 1) {
            socket.option(Linux.SOL_UDP, Linux.UDP_SEGMENT, shape.datagramBytes());
        }
        socket.connect(spec.link().group(), spec.link().port());
        credits = new FloorCredits(arena, spec);
        slotBytes = (shape.burstWireBytes() + Long.BYTES - 1) / Long.BYTES * Long.BYTES;
        slots = new FloorMessages[Math.clamp(SLOTS_BYTES / slotBytes, SLOTS_MIN, SLOTS_MAX)];
        memory = arena.allocate(slots.length * slotBytes, Long.BYTES);
        FrameContent.fill(memory);
        for (int slot = 0; slot < slots.length; slot++) {
            slots[slot] = new FloorMessages(arena, shape.burstMessages());
            aim(slot, shape.burstWireBytes());
        }
        endMemory = arena.allocate(END_BYTES, Long.BYTES);
        end = new FloorMessages(arena, 1);
        end.aim(0, endMemory.address(), END_BYTES);
    }

    private void aim(final int slot, final long wireBytes) {
        final long messageBytes = (long) shape.segments() * shape.datagramBytes();
        for (int i = 0; i * messageBytes < wireBytes; i++) {
            final long offset = i * messageBytes;
            slots[slot].aim(
                    i, memory.address() + slot * slotBytes + offset, Math.min(messageBytes, wireBytes - offset));
        }
    }

    SourceReport run(final StreamSpec spec, final Runnable gone) {
        credits.awaitAll();
        final FrameSource source =
                new FrameSource(spec, new ProcessCost(spec.link().device(), () -> before = traffic()));
        int slot = 0;
        int frames = 0;
        while (source.next()) {
            stamp(slot * slotBytes + frames * burstStride(), source);
            frames++;
            if (frames == shape.burstFrames() || source.isLast()) {
                send(slot, frames);
                slot = (slot + 1) % slots.length;
                frames = 0;
            }
        }
        credits.awaitReceived(sentDatagrams);
        final SourceReport report = source.report(FloorSystem.NAME, traffic().since(before));
        sayEnd(source.number() + 1);
        gone.run();
        return report;
    }

    private long burstStride() {
        return shape.frameBytes() + (long) shape.frameDatagrams() * FloorShape.HEADER_BYTES;
    }

    private void stamp(final long offset, final FrameSource source) {
        final int datagrams = shape.frameDatagrams();
        final long first = source.number() * datagrams;
        for (int i = 0; i < datagrams; i++) {
            memory.set(JAVA_LONG_UNALIGNED, offset + (long) i * shape.datagramBytes(), first + i);
        }
        FrameContent.stampFront(memory, offset + FloorShape.HEADER_BYTES, source.stamp());
    }

    private void send(final int slot, final int frames) {
        final long wireBytes = frames * burstStride();
        if (frames < shape.burstFrames()) {
            aim(slot, wireBytes);
        }
        final int segments = shape.segments();
        final int callMessages = Math.clamp(credits.roomDatagrams() / 4 / segments, 1, CALL_MESSAGES_MAX);
        final int datagrams = frames * shape.frameDatagrams();
        final int messages = (datagrams + segments - 1) / segments;
        for (int first = 0; first < messages; first += callMessages) {
            final int count = Math.min(callMessages, messages - first);
            final int callDatagrams = Math.min(count * segments, datagrams - first * segments);
            credits.awaitRoom(sentDatagrams, callDatagrams);
            slots[slot].send(socket, first, count);
            sentDatagrams += callDatagrams;
        }
        sentBytes += wireBytes;
    }

    private FrameSource.Traffic traffic() {
        return FrameSource.Traffic.ofDatagrams(sentDatagrams, sentBytes);
    }

    private void sayEnd(final long frames) {
        endMemory.set(JAVA_LONG, 0, FloorShape.END);
        endMemory.set(JAVA_LONG, Long.BYTES, frames);
        final long endNs = System.nanoTime() + END_MAX_NS;
        while (!credits.areDone() && System.nanoTime() < endNs) {
            end.send(socket, 0, 1);
            credits.receive(Linux.MSG_WAITFORONE);
        }
    }

    @Override
    public void close() {
        credits.close();
        socket.close();
    }
}
