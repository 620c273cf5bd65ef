package io.framecast.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Subscriber;
import io.framecast.api.error.ConfigException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.engine.aeron.AeronTransportProvider;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.engine.udp.UdpTransportProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The device that `auto` takes, and the notices about it.
class ProvidersTest {
    private final List<String> notices = new ArrayList<>();

    /// A provider whose devices are the host's memory under another name.
    private record Named(String kind, int rank, Optional<String> unavailable, int deviceCount)
            implements DeviceBackendProvider {
        @Override
        public Naming naming() {
            return kind.equals("cuda") ? Naming.ORDINAL : Naming.KIND_OR_ORDINAL;
        }

        @Override
        public boolean isAutomatic() {
            return !kind.equals("emulated");
        }

        @Override
        public DeviceBackend open(final int ordinal) {
            return new HostProvider().open(0);
        }
    }

    private Providers with(final String whyNoGpu) {
        return new Providers(
                notices::add,
                List.of(new UdpTransportProvider()),
                List.of(
                        new Named("cuda", 30, Optional.of(whyNoGpu).filter(why -> !why.isEmpty()), 1),
                        new Named("emulated", 20, Optional.empty(), 1),
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

    @ParameterizedTest
    @CsvSource({"4, 2, cuda:2 (LOCAL_RANK)", "1, 2, cuda:0 (LOCAL_RANK)", "2, 5, cuda:1 (LOCAL_RANK)"})
    void shouldShareGpusAmongTheProcessesOfALauncher(final int gpus, final String rank, final String taken) {
        final Providers providers = new Providers(
                notices::add,
                List.of(new UdpTransportProvider()),
                List.of(new Named("cuda", 30, Optional.empty(), gpus), new HostProvider()),
                Map.of("LOCAL_RANK", rank));
        assertEquals("device auto: " + taken, taken(providers, "auto"));
        // A channel that names a device gets it.
        assertEquals("", taken(providers, "cuda:0"));
    }

    @Test
    void shouldNotCountProcessesForHostMemory() {
        final Providers providers = new Providers(
                notices::add,
                List.of(new UdpTransportProvider()),
                List.of(new HostProvider()),
                Map.of("LOCAL_RANK", "nonsense"));
        assertTrue(taken(providers, "auto").contains("host memory"), notices::toString);
    }

    @ParameterizedTest
    @CsvSource({
        "cuda, 'device: expected cuda:N, got cuda'",
        "cuda:1, 'device: expected cuda below 1, got cuda:1'",
        "host:0, 'device: expected host, got host:0'",
        "cudda:0, 'device: no provider of cudda is on the class path, nearest is cuda; expected one of [auto, cuda, emulated, host]'",
        "'auto,emulatd', 'device: no provider of emulatd is on the class path, nearest is emulated'",
    })
    void shouldRefuseADeviceThatNoProviderHas(final String device, final String complaint) {
        final Providers providers = with("");
        final String message = assertThrows(ConfigException.class, () -> providers.openDevice(device))
                .getMessage();
        assertTrue(message.startsWith(complaint), message);
        assertFalse(message.contains("\n"), message);
    }

    @ParameterizedTest
    @CsvSource({
        "framecast:upd?group=224.0.0.1:5, 'transport: no provider of upd is on the class path, nearest is udp; expected one of [auto, udp]'",
        "framecast:udp?control=10.0.0.1:5, transport: udp carries multicast groups only",
        "framecast:udp?ipc=/dev/shm/a, transport: udp carries multicast groups only",
    })
    void shouldRefuseATransportThatNoProviderHasOrThatCannotCarryTheChannel(final String uri, final String complaint) {
        final Providers providers = with("");
        final Channel channel = Channel.parse(uri);
        final String message = assertThrows(ConfigException.class, () -> providers.openTransport(channel))
                .getMessage();
        assertTrue(message.startsWith(complaint), message);
        assertFalse(message.contains("\n"), message);
    }

    @Test
    void shouldTakeATransportThatCarriesTheChannelByItself() {
        final Providers providers = new Providers(
                notices::add, List.of(new UdpTransportProvider(), new AeronTransportProvider()), List.of());
        assertEquals("udp", resolved(providers, "framecast:auto?group=224.0.0.1:5"));
        assertEquals("aeron", resolved(providers, "framecast:auto?control=10.0.0.1:5"));
        assertEquals("aeron", resolved(providers, "framecast:auto?ipc=/dev/shm/a"));
    }

    private static String resolved(final Providers providers, final String uri) {
        return providers.resolve(Channel.parse(uri)).transport();
    }

    @Test
    void shouldReportATransportOnceHoweverOftenItIsOpened() {
        final Providers providers = with("");
        for (int i = 0; i < 3; i++) {
            providers
                    .openTransport(Channel.parse("framecast:udp?group=224.20.30.39:24326|interface=127.0.0.1"))
                    .close();
        }
        assertEquals(
                List.of("transport: udp"),
                notices.stream().filter(line -> line.startsWith("transport: ")).toList());
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
