package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportConfig;
import io.framecast.api.spi.TransportProvider;
import io.framecast.rdma.verbs.Fabric;
import io.framecast.rdma.verbs.VerbsLibrary;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

/// Being found, and saying no in one line, on the stand-in.
final class VerbsTransportProviderTest {
    private static final String GROUP = "framecast:auto?group=239.77.5.7:4000";

    @Test
    void shouldBeFoundAndNeverThrowWhateverTheMachineHas() {
        final TransportProvider found = ServiceLoader.load(TransportProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(provider -> "verbs".equals(provider.name()))
                .findFirst()
                .orElseThrow();
        assertEquals(
                found.unavailable().isPresent(),
                found.unavailable(Channel.parse(GROUP)).isPresent());
        found.unavailable().ifPresent(reason -> assertTrue(reason.lines().count() == 1 && !reason.isBlank()));
    }

    @Test
    void shouldNameThePackageWhenThereIsNoLibrary() {
        final VerbsTransportProvider provider = new VerbsTransportProvider(() -> VerbsLibrary.load("libnowhere.so.1"));
        final String reason = "verbs: no libnowhere.so.1 on this machine; install libibverbs1 and ibverbs-providers"
                + " (Debian, Ubuntu) or libibverbs (Fedora, RHEL)";
        assertEquals(Optional.of(reason), provider.unavailable());
        assertEquals(Optional.of(reason), provider.unavailable(Channel.parse(GROUP)));
    }

    @Test
    void shouldNeedAnActivePort() {
        final Fabric fabric = Fabric.standIn();
        final VerbsTransportProvider provider = new VerbsTransportProvider(fabric::library);
        assertEquals(Optional.empty(), provider.unavailable());
        fabric.set("port_state", 1);
        try {
            assertEquals(
                    "verbs: none of the devices [standin0, standin1, standin2] has an active port with an address;"
                            + " bring its network interface up and give it one",
                    provider.unavailable().orElseThrow());
            assertTrue(provider.unavailable(Channel.parse(GROUP)).isPresent());
            fabric.set("devices", 0);
            assertTrue(provider.unavailable().orElseThrow().startsWith("verbs: no RDMA device; "));
        } finally {
            fabric.set("devices", 3);
            fabric.set("port_state", 4);
        }
        assertEquals(0, fabric.library().liveHandles());
    }

    @Test
    void shouldLookAtWhatTheChannelAsksFor() {
        final Fabric fabric = Fabric.standIn();
        final VerbsTransportProvider provider = new VerbsTransportProvider(fabric::library);
        assertEquals(Optional.empty(), provider.unavailable(Channel.parse(GROUP)));
        assertEquals(Optional.empty(), provider.unavailable(Channel.parse(GROUP + "|interface=10.77.0.3")));
        for (final String other : List.of("10.9.9.9", "127.0.0.1", "lo")) {
            assertTrue(provider.unavailable(Channel.parse(GROUP + "|interface=" + other))
                    .isPresent());
        }
        assertTrue(provider.unavailable(Channel.parse("framecast:auto?control=10.77.0.3:4000"))
                .isPresent());
        assertEquals(0, fabric.library().liveHandles());
    }

    @Test
    void shouldTakeAnyDeviceAndSayWhichForTheHostItself() {
        final Fabric fabric = Fabric.standIn();
        final List<String> notices = new ArrayList<>();
        final Channel channel = Channel.parse("framecast:verbs?group=239.77.5.7:4000|interface=127.0.0.1");
        try (Transport transport =
                new VerbsTransportProvider(fabric::library).open(new TransportConfig(channel, notices::add))) {
            assertEquals("verbs", transport.capabilities().name());
        }
        assertEquals(List.of("verbs: device standin0 (::ffff:10.77.0.1)"), notices);
    }
}
