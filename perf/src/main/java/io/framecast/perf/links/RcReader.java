package io.framecast.perf.links;

import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSided.Access;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.RegisteredMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;

/// The end that reads.
public final class RcReader extends RcLink {
    private final MemorySegment memory;
    private final long slotBytes;
    private final RcHandshake writer;
    private long taken;

    private RcReader(
            final SocketChannel channel,
            final OneSidedEndpoint endpoint,
            final Arena arena,
            final RegisteredMemory registered,
            final MemorySegment memory,
            final long slotBytes,
            final RcHandshake writer) {
        super(channel, endpoint, arena, registered);
        this.memory = memory;
        this.slotBytes = slotBytes;
        this.writer = writer;
    }

    /// Connects, once the other end accepts.
    ///
    /// @param channel to it, closed with the link
    public static RcReader connect(final OneSided device, final SocketChannel channel, final int partBytes)
            throws IOException {
        final long slotBytes = slotBytes(partBytes);
        final Arena arena = Arena.ofShared();
        final MemorySegment memory = arena.allocate(PARTS_UNDER_WAY * (slotBytes + WORD_BYTES), WORD_BYTES);
        final RegisteredMemory registered = device.register(memory, Access.PEERS_WRITE);
        final OneSidedEndpoint endpoint = device.open(OPERATIONS_MAX, Access.PEERS_WRITE);
        new RcHandshake(endpoint.descriptor(), registered.address(), registered.key()).send(channel);
        final RcHandshake writer = RcHandshake.receive(channel);
        endpoint.connect(writer.descriptor());
        RcHandshake.awaitUp(endpoint);
        RcHandshake.confirm(channel);
        return new RcReader(channel, endpoint, arena, registered, memory, slotBytes, writer);
    }

    @Override
    public void read(final MemorySegment part) throws IOException {
        final long slot = taken % PARTS_UNDER_WAY;
        final long word = PARTS_UNDER_WAY * slotBytes + slot * WORD_BYTES;
        await("part", () -> wordAt(memory, word) == taken + 1);
        MemorySegment.copy(memory, slot * slotBytes, part, 0, part.byteSize());
        taken++;
        // Where the writer has all it waits for, it may be gone already: the next read would say so.
        while (!endpoint.write64(writer.address(), writer.key(), taken, taken)
                && endpoint.state() == OneSidedEndpoint.State.UP) {
            endpoint.poll(tokens);
        }
        endpoint.poll(tokens);
    }

    @Override
    public void write(final MemorySegment part) {
        throw new IllegalStateException("the end that reads");
    }
}
