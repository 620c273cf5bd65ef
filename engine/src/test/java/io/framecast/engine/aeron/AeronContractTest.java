package io.framecast.engine.aeron;

import io.framecast.api.Channel;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportContract;
import io.framecast.testing.TestPorts;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/// The contract on each of Aeron's three kinds of channel, over loopback.
class AeronContractTest {
    private static final int PORT = TestPorts.triple();
    private static final int CONTROL_PORT = TestPorts.triple();

    private static Transport open(final String uri) {
        return new AeronTransportProvider().open(new TransportConfig(Channel.parse(uri), _ -> {}));
    }

    private abstract static class Lazily extends TransportContract {
        @Override
        protected boolean connectsLazily() {
            return true;
        }
    }

    @Nested
    class Multicast extends Lazily {
        @Override
        protected Transport openTransport() {
            return open("framecast:aeron?group=239.66.77.93:" + PORT + "|interface=127.0.0.1|mtu=8192");
        }
    }

    @Nested
    class Ipc extends Lazily {
        @TempDir
        Path directory;

        @Override
        protected Transport openTransport() {
            return open("framecast:aeron?ipc=" + directory.resolve("driver"));
        }
    }

    /// A control address belongs to one process, so both ends of these tests share one transport.
    @Nested
    class Fanout extends Lazily {
        private @Nullable Transport shared;

        @Override
        protected Transport openTransport() {
            if (shared == null) {
                shared = open("framecast:aeron?control=127.0.0.1:" + CONTROL_PORT + "|mtu=1500");
            }
            return shared;
        }
    }
}
