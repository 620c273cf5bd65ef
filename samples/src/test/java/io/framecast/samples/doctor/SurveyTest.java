package io.framecast.samples.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.metrics.CounterTable;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.metrics.Labels;
import io.framecast.rdma.RdmaSurvey.Finding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// That the surveys find each planted fault, say how to fix it, and find none where there is none.
final class SurveyTest {
    private static final int SYNCHRONIZED = 0;
    private static final String NO_CAPABILITIES = "CapEff:\t0000000000000000\n";

    @TempDir
    Path root;

    private void write(final String file, final String text) throws IOException {
        final Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private void sound() throws IOException {
        write("proc/sys/net/core/rmem_max", "33554432\n");
        write("proc/sys/net/core/wmem_max", "1048576\n");
        write("proc/self/status", NO_CAPABILITIES);
        write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
        write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    }

    private List<String> faults(final int clock) {
        return HostSurvey.look(root, () -> clock).stream()
                .filter(finding -> !finding.isGood())
                .map(Finding::toString)
                .toList();
    }

    private void assertFault(final String found, final String fix, final int clock) {
        final List<String> faults = faults(clock);
        assertEquals(1, faults.size(), faults::toString);
        assertTrue(faults.getFirst().contains(found) && faults.getFirst().contains(fix), faults.getFirst());
    }

    @Test
    void shouldFindNothingOnASoundHost() throws IOException {
        sound();
        assertEquals(List.of(), faults(SYNCHRONIZED));
    }

    @Test
    void shouldFindSmallBuffersUnlessAllowedToForce() throws IOException {
        sound();
        write("proc/sys/net/core/rmem_max", "212992\n");
        assertFault("net.core.rmem_max is 212992 bytes", "sysctl -w net.core.rmem_max=8388608", SYNCHRONIZED);
        write("proc/self/status", "Name:\tjava\nCapEff:\t0000000000001000\n");
        assertEquals(List.of(), faults(SYNCHRONIZED));
    }

    @Test
    void shouldFindAGovernorThatSavesPower() throws IOException {
        sound();
        write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
        assertFault("performance, powersave", "cpupower frequency-set -g performance", SYNCHRONIZED);
    }

    @Test
    void shouldFindASlowClockAndOneThatNothingSynchronizes() throws IOException {
        sound();
        write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
        assertFault("source hpet", "tsc=reliable", SYNCHRONIZED);
        sound();
        assertFault("nothing synchronizes it", "chrony", Linux.TIME_ERROR);
    }

    @Test
    void shouldFindANeighbourWithAnotherTransport() {
        final Path file = root.resolve("a.counters");
        try (CounterTable table = CounterTable.create(file)) {
            table.allocate(
                    EngineCounter.STREAM_INFO, Labels.of("channel", "cam7", "role", "publisher", "transport", "verbs"));
            table.allocate(
                    EngineCounter.STREAM_INFO, Labels.of("channel", "cam8", "role", "publisher", "transport", "verbs"));
            final Channel channel = Channel.parse("framecast:udp?group=224.20.30.39:24326|interface=lo|channel=cam7");
            final List<String> faults = NetworkSurvey.look(channel, List.of(file)).stream()
                    .filter(finding -> !finding.isGood())
                    .map(Finding::toString)
                    .toList();
            assertEquals(1, faults.size(), faults::toString);
            assertTrue(
                    faults.getFirst().startsWith("a publisher of cam7 here, process ")
                            && faults.getFirst().contains("uses verbs; this channel takes udp"),
                    faults.getFirst());
        }
    }

    @Test
    void shouldFindAnInterfaceThatIsMissingAndAnMtuThatIsTooLarge() {
        assertTrue(find("interface=none0").contains("no interface is named none0: interface= one of ["));
        assertTrue(find("interface=lo|mtu=65536").contains("comes back"), find("interface=lo"));
    }

    private static String find(final String settings) {
        return NetworkSurvey.look(Channel.parse("framecast:udp?group=224.20.30.39:24326|" + settings), List.of())
                .toString();
    }
}
