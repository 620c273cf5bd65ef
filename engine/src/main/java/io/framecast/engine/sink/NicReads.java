package io.framecast.engine.sink;

import io.framecast.api.error.DeviceException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSided.Access;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.OneSidedEndpoint.Range;
import io.framecast.api.spi.OneSidedEndpoint.State;
import io.framecast.api.spi.RegisteredMemory;
import io.framecast.engine.memory.RollbackOnFailure;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/// Reads of a NIC, one after the other, out of some memory into the host's, by a connection of this process
/// with itself. To measure them. One thread.
final class NicReads implements AutoCloseable {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(5);

    private final Arena arena = Arena.ofShared();
    private final RollbackOnFailure opened = new RollbackOnFailure();
    private final RegisteredMemory source;
    private final Range target;
    private final OneSidedEndpoint reader;
    private final OneSidedEndpoint served;
    private final long[] tokens = new long[1];

    /// Out of an allocation of a device's.
    NicReads(final OneSided nic, final DeviceBackend device, final DeviceRegion region) {
        this(nic, region.bytes(), opened -> {
            final DeviceRegion exported = device.access().export(region);
            opened.add(() -> device.access().unexport(exported));
            return nic.register(exported, Access.PEERS_READ);
        });
    }

    NicReads(final OneSided nic, final MemorySegment host) {
        this(nic, host.byteSize(), _ -> nic.register(host, Access.PEERS_READ));
    }

    private NicReads(
            final OneSided nic, final long bytes, final Function<RollbackOnFailure, RegisteredMemory> registered) {
        boolean whole = false;
        try {
            opened.add(arena);
            source = opened.add(registered.apply(opened));
            target = new Range(opened.add(nic.register(arena.allocate(bytes, 4096), Access.LOCAL)));
            reader = opened.add(nic.open(1));
            served = opened.add(nic.accept(reader.descriptor()));
            await(() -> served.state() == State.UP);
            reader.connect(served.descriptor());
            await(() -> reader.state() == State.UP);
            whole = true;
        } catch (final TransportException e) {
            throw new DeviceException(String.valueOf(e.getMessage()), e);
        } finally {
            if (!whole) {
                opened.close();
            }
        }
    }

    private void await(final BooleanSupplier done) {
        final long untilNs = System.nanoTime() + PATIENCE_NS;
        while (!done.getAsBoolean()) {
            if (System.nanoTime() - untilNs > 0) {
                throw new DeviceException("the NIC did not connect to itself, or read nothing, within 5 s");
            }
            Thread.onSpinWait();
        }
    }

    /// Reads that many bytes, and returns when they have arrived.
    void read(final long bytes) {
        target.at(0, (int) bytes);
        await(() -> reader.read(target, source.address(), source.key(), 1));
        await(() -> reader.poll(tokens) > 0);
    }

    @Override
    public void close() {
        opened.close();
    }
}
