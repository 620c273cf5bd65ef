package io.framecast.rdma;

import io.framecast.api.Channel;
import io.framecast.api.error.FramecastException;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.VerbsLibrary;
import java.net.InetAddress;
import java.util.Optional;
import java.util.function.Supplier;

/// Offers `verbs`: multicast by an RDMA device, over RoCE v2. The first choice of `transport=auto` where a
/// device has an active port.
public final class VerbsTransportProvider implements TransportProvider {
    // Before udp.
    private static final int RANK = 30;

    private final Supplier<VerbsLibrary> library;

    /// For `ServiceLoader`.
    public VerbsTransportProvider() {
        this(VerbsLibrary::load);
    }

    VerbsTransportProvider(final Supplier<VerbsLibrary> library) {
        this.library = library;
    }

    @Override
    public String name() {
        return VerbsTransport.NAME;
    }

    @Override
    public Optional<String> unavailable() {
        return reason(() -> RdmaPort.requireAny(library.get()));
    }

    /// A channel may name an interface or a family of addresses that no device here has. A channel on the loopback
    /// interface stays off devices.
    @Override
    public Optional<String> unavailable(final Channel channel) {
        if (!(channel instanceof Channel.Multicast multicast)) {
            return Optional.of(VerbsTransport.MULTICAST_ONLY);
        }
        final String wanted = multicast.link().networkInterface();
        if (RdmaPort.isLoopback(wanted)) {
            return Optional.of("verbs: interface=" + wanted + " has no RDMA device");
        }
        final InetAddress group = multicast.group().address();
        return reason(() -> RdmaPort.open(library.get(), group, wanted, 0).close());
    }

    private static Optional<String> reason(final Runnable attempt) {
        final String system = System.getProperty("os.name");
        if (!"Linux".equals(system)) {
            return Optional.of("verbs needs Linux, this is " + system);
        }
        try {
            attempt.run();
            return Optional.empty();
        } catch (final FramecastException e) {
            return Optional.of(e.getMessage());
        } catch (final LinkageError | IllegalCallerException e) {
            return Optional.of("verbs cannot call the C library: " + e.getMessage());
        }
    }

    @Override
    public int rank() {
        return RANK;
    }

    @Override
    public Transport open(final TransportConfig config) {
        return VerbsTransport.open(library.get(), config);
    }
}
