package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import io.framecast.rdma.verbs.VerbsLibrary;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "239.77.5.7:4000|interface=127.0.0.1; standin0 port 1, GID 1 (RoCE v2, 10.77.0.1), MTU 4096, group"
                        + " ::ffff:239.77.5.7",
                "239.77.5.7:4000; standin0 port 1, GID 1 (RoCE v2, 10.77.0.1), MTU 4096, group ::ffff:239.77.5.7",
                "239.77.5.7:4000|interface=standin2|mtu=1500; standin2 port 1, GID 1 (RoCE v2, 10.77.0.3), MTU 1448,"
                        + " group ::ffff:239.77.5.7",
                "[ff15::77:7]:4000|interface=standin1; standin1 port 1, GID 0 (RoCE v2, fe80:0:0:0:0:ff:fe00:2), MTU"
                        + " 4096, group ff15:0000:0000:0000:0000:0000:0077:0007"
            })
    void shouldSayOnceWhatItUsesEvenWhereTheUserChose(final String group, final String notice) {
        final Fabric fabric = Fabric.standIn();
        final List<String> notices = new ArrayList<>();
        final Channel channel = Channel.parse("framecast:verbs?group=" + group);
        final LaneRings rings = new LaneRings(4, 24, 64);
        try (Arena arena = Arena.ofShared();
                Transport transport =
                        new VerbsTransportProvider(fabric::library).open(new TransportConfig(channel, notices::add))) {
            assertEquals("verbs", transport.capabilities().name());
            rings.source(transport, arena);
            rings.control(transport, arena);
        }
        assertEquals(List.of("verbs: " + notice), notices);
    }
}
