package io.framecast.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceBackendProvider;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.udp.UdpTransportProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/// Which device `auto` takes, and who is told.
class ProvidersTest {
    private final List<String> notices = new ArrayList<>();

    /// A provider whose devices are the host's memory under another name.
    private record Named(String kind, int rank, Optional<String> unavailable) implements DeviceBackendProvider {
        @Override
        public int deviceCount() {
            return 1;
        }

        @Override
        public DeviceBackend open(final int ordinal) {
            return new HostProvider().open(ordinal);
        }
    }

    private Providers with(final String whyNoGpu) {
        return new Providers(
                notices::add,
                List.of(new UdpTransportProvider()),
                List.of(
                        new Named("cuda", 30, Optional.of(whyNoGpu).filter(why -> !why.isEmpty())),
                        new Named("emulated", 20, Optional.empty()),
                        new HostProvider()));
    }

    private String taken(final Providers providers, final String device) {
        notices.clear();
        providers.openDevice(device).close();
        return String.join("; ", notices);
    }

    @Test
    void shouldTakeNoEmulatedDeviceUnasked() {
        assertEquals(
                "device auto: host memory, for there is no GPU (no CUDA driver); device=auto,emulated takes an emulated"
                        + " one",
                taken(with("no CUDA driver"), "auto"));
        assertEquals("no CUDA driver: emulated GPU", taken(with("no CUDA driver"), "auto,emulated"));
        assertEquals("", taken(with("no CUDA driver"), "emulated"));
        assertEquals("device auto: cuda:0", taken(with(""), "auto"));
        assertEquals("device auto: cuda:0", taken(with(""), "auto,emulated"));
        final Providers bare =
                new Providers(notices::add, List.of(new UdpTransportProvider()), List.of(new HostProvider()));
        assertTrue(taken(bare, "auto").contains("framecast-gpu-sink is not on the class path"), notices::toString);
    }

    @Test
    void shouldLogWhatWasTakenUnlessNoticesGoElsewhere() {
        final List<String> logged = new ArrayList<>();
        final Logger logger = Logger.getLogger("io.framecast");
        final Handler handler = new Handler() {
            @Override
            public void publish(final LogRecord line) {
                logged.add(line.getLevel() + " " + line.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.setLevel(Level.INFO);
        logger.addHandler(handler);
        try (Framecast node = Framecast.launch(NodeConfig.DEFAULT);
                Subscriber subscriber = node.subscribe(StreamFixture.channel("udp", ""))) {
            assertEquals("host", subscriber.device().name());
        } finally {
            logger.removeHandler(handler);
        }
        assertTrue(
                logged.stream().anyMatch(line -> line.startsWith("INFO device auto: host memory")), logged::toString);
        assertTrue(logged.contains("INFO transport: udp"), logged::toString);
    }
}
