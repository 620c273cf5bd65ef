package io.framecast.engine.udp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// IPv6, which has no multicast on loopback, and a link with the MTU of Ethernet: in a network namespace of its
/// own, which ends with the process.
final class UdpNamespaceTest {
    private static final String SET_UP = """
            ip link set lo up &&
            ip link add fc0 type veth peer name fc1 &&
            ip link set fc0 up && ip link set fc1 up &&
            ip addr add 10.99.0.1/24 dev fc0 &&
            ip -6 addr add fd99::1/64 dev fc0 nodad &&
            ip route add 224.0.0.0/4 dev fc0""";

    @TempDir
    Path directory;

    @Test
    void shouldCarryIpv6AndFitTheLink() throws Exception {
        UdpTests.assumeUdp();
        assumeTrue(run(SET_UP, "setup") == 0, "cannot make network namespaces with veth here");
        final String java =
                Path.of(System.getProperty("java.home"), "bin", "java").toString();
        final int status = run(
                SET_UP + " && exec " + java + " --add-opens=java.base/jdk.internal.misc=ALL-UNNAMED"
                        + " --enable-native-access=ALL-UNNAMED -Xmx256m -cp "
                        + System.getProperty("java.class.path") + " " + NamespaceCheck.class.getName() + " fc0",
                "check");
        assertEquals(0, status, () -> output("check"));
    }

    private String output(final String log) {
        try {
            return Files.readString(directory.resolve(log));
        } catch (final IOException e) {
            return e.toString();
        }
    }

    private int run(final String script, final String log) throws InterruptedException {
        try {
            final Process process = new ProcessBuilder(List.of("unshare", "-n", "sh", "-c", script))
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve(log).toFile())
                    .start();
            assertTrue(process.waitFor(120, TimeUnit.SECONDS));
            return process.exitValue();
        } catch (final IOException e) {
            return -1;
        }
    }
}
