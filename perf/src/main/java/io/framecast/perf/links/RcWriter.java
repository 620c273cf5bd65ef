package io.framecast.perf.links;

import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSided.Access;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.OneSidedEndpoint.Range;
import io.framecast.api.spi.RegisteredMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/// The end that writes.
public final class RcWriter extends RcLink {
    private final OneSided device;
    private final MemorySegment credit;
    private final RcHandshake reader;
    private final long slotBytes;
    private final List<Used> used = new ArrayList<>();
    private long written;
    private long done;

    private record Used(MemorySegment memory, RegisteredMemory registered, Range range) {
        boolean has(final MemorySegment part) {
            final long offset = part.address() - memory.address();
            return offset >= 0 && offset + part.byteSize() <= memory.byteSize();
        }
    }

    private record Credit(MemorySegment word, RegisteredMemory registered) {}

    private RcWriter(
            final OneSided device,
            final SocketChannel channel,
            final OneSidedEndpoint endpoint,
            final Arena arena,
            final Credit credit,
            final RcHandshake reader,
            final long slotBytes) {
        super(channel, endpoint, arena, credit.registered);
        this.device = device;
        this.credit = credit.word;
        this.reader = reader;
        this.slotBytes = slotBytes;
    }

    /// Lets the other end connect.
    ///
    /// @param channel to it, closed with the link
    public static RcWriter accept(final OneSided device, final SocketChannel channel, final int partBytes)
            throws IOException {
        final RcHandshake reader = RcHandshake.receive(channel);
        final OneSidedEndpoint endpoint = device.accept(reader.descriptor(), Access.PEERS_WRITE, OPERATIONS_MAX);
        RcHandshake.awaitUp(endpoint);
        final Arena arena = Arena.ofShared();
        final MemorySegment credit = arena.allocate(WORD_BYTES, WORD_BYTES);
        final RegisteredMemory registered = device.register(credit, Access.PEERS_WRITE);
        new RcHandshake(endpoint.descriptor(), registered.address(), registered.key()).send(channel);
        // A write before the other end can take it would be tried again, late.
        RcHandshake.awaitConfirmed(channel);
        final Credit found = new Credit(credit, registered);
        return new RcWriter(device, channel, endpoint, arena, found, reader, slotBytes(partBytes));
    }

    @Override
    public void use(final MemorySegment memory) {
        final RegisteredMemory registered = device.register(memory, Access.LOCAL);
        used.add(new Used(memory, registered, new Range(registered)));
    }

    @Override
    public void write(final MemorySegment part) throws IOException {
        final Used from = used.stream()
                .filter(memory -> memory.has(part))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("memory that was not named"));
        await("room", () -> written - wordAt(credit, 0) < PARTS_UNDER_WAY);
        final long slot = written % PARTS_UNDER_WAY;
        final Range range = from.range.at(part.address() - from.memory.address(), (int) part.byteSize());
        final long word = reader.address() + PARTS_UNDER_WAY * slotBytes + slot * WORD_BYTES;
        await(
                "operation",
                () -> endpoint.room() >= 2
                        && endpoint.write(
                                range, reader.address() + slot * slotBytes, reader.key(), OneSidedEndpoint.NO_TOKEN));
        written++;
        await("operation", () -> endpoint.write64(word, reader.key(), written, written));
        awaitDone(written - 1);
    }

    @Override
    public void flush() throws IOException {
        awaitDone(written);
    }

    private void awaitDone(final long number) throws IOException {
        await("completion", () -> {
            final int count = endpoint.poll(tokens);
            if (count > 0) {
                done = tokens[count - 1];
            }
            return done >= number;
        });
    }

    @Override
    public void read(final MemorySegment part) {
        throw new IllegalStateException("the end that writes");
    }

    @Override
    public void close() throws IOException {
        super.close();
        used.forEach(memory -> memory.registered.close());
    }
}
