package io.framecast.engine.port;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.RegisteredMemory;
import io.framecast.reliability.onesided.EndpointPort;
import io.framecast.reliability.onesided.OneSidedPort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// A transport's one-sided operations, as the protocol sees them.
///
/// Ownership: the transport is the caller's.
public final class TransportOneSided implements OneSidedPort {
    private static final long ALIGNMENT = 64;

    private final OneSided oneSided;
    private final Executor background;

    /// @param background opens the endpoints of [#openLater]
    private TransportOneSided(final OneSided oneSided, final Executor background) {
        this.oneSided = oneSided;
        this.background = background;
    }

    /// @param oneSided null for a transport without one-sided operations
    /// @param background opens the endpoints of [#openLater], in order
    public static @Nullable OneSidedPort of(final @Nullable OneSided oneSided, final Executor background) {
        return oneSided == null ? null : new TransportOneSided(oneSided, background);
    }

    @Override
    public Region register(final MemorySegment memory, final Access access) {
        return new RegisteredRegion(memory, call(() -> oneSided.register(memory, spi(access))), null);
    }

    @Override
    public Region allocate(final long bytes, final Access access) {
        final Arena arena = Arena.ofShared();
        try {
            final MemorySegment memory = arena.allocate(bytes, ALIGNMENT);
            return new RegisteredRegion(memory, call(() -> oneSided.register(memory, spi(access))), arena);
        } catch (final RuntimeException | OutOfMemoryError e) {
            arena.close();
            throw e;
        }
    }

    @Override
    public EndpointPort open(final int operationsMax, final Access peer) {
        return new TransportEndpoint(call(() -> oneSided.open(operationsMax, spi(peer))));
    }

    @Override
    public EndpointPort openLater(final int operationsMax) {
        final TransportEndpoint endpoint = new TransportEndpoint();
        background.execute(() -> endpoint.make(() -> oneSided.open(operationsMax)));
        return endpoint;
    }

    @Override
    public EndpointPort accept(final byte[] descriptor, final Access peer, final int operationsMax) {
        return new TransportEndpoint(call(() -> oneSided.accept(descriptor, spi(peer), operationsMax)));
    }

    private static OneSided.Access spi(final Access access) {
        return switch (access) {
            case LOCAL -> OneSided.Access.LOCAL;
            case PEERS_READ -> OneSided.Access.PEERS_READ;
            case PEERS_WRITE -> OneSided.Access.PEERS_WRITE;
        };
    }

    private static <T> T call(final Supplier<T> operation) {
        try {
            return operation.get();
        } catch (final TransportException e) {
            throw new RefusedException(String.valueOf(e.getMessage()), e);
        }
    }

    /// Registered memory, and the range of it that an operation accesses.
    static final class RegisteredRegion implements Region {
        private final MemorySegment memory;
        private final RegisteredMemory registered;
        private final OneSidedEndpoint.Range range;
        private final @Nullable Arena arena;

        /// @param arena owner of memory that is freed with the registration; null where the caller owns it
        private RegisteredRegion(
                final MemorySegment memory, final RegisteredMemory registered, final @Nullable Arena arena) {
            this.memory = memory;
            this.registered = registered;
            this.arena = arena;
            range = new OneSidedEndpoint.Range(registered);
        }

        OneSidedEndpoint.Range range() {
            return range;
        }

        @Override
        public MemorySegment memory() {
            return memory;
        }

        @Override
        public long address() {
            return registered.address();
        }

        @Override
        public int key() {
            return registered.key();
        }

        @Override
        public void close() {
            CloseHelper.closeAll(registered, arena);
        }
    }
}
