package io.framecast.perf.rivals;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Compares every number with what C says on this machine.
final class FloorNativeTest {
    private static final String HEAD = """
            #define _GNU_SOURCE
            #include <stdio.h>
            #include <stddef.h>
            #include <errno.h>
            #include <netinet/in.h>
            #include <sys/socket.h>
            #include <linux/udp.h>
            #include <linux/sock_diag.h>
            """;

    /// Those whose name is not C's.
    private static final Map<String, String> EXPRESSIONS = Map.ofEntries(
            Map.entry("SOCKADDR_IN_BYTES", "sizeof(struct sockaddr_in)"),
            Map.entry("SIN_PORT", "offsetof(struct sockaddr_in, sin_port)"),
            Map.entry("SIN_ADDR", "offsetof(struct sockaddr_in, sin_addr)"),
            Map.entry("IOVEC_BYTES", "sizeof(struct iovec)"),
            Map.entry("IOV_LEN", "offsetof(struct iovec, iov_len)"),
            Map.entry("MMSGHDR_BYTES", "sizeof(struct mmsghdr)"),
            Map.entry("MSG_IOV", "offsetof(struct msghdr, msg_iov)"),
            Map.entry("MSG_IOVLEN", "offsetof(struct msghdr, msg_iovlen)"),
            Map.entry("MSG_CONTROL", "offsetof(struct msghdr, msg_control)"),
            Map.entry("MSG_CONTROLLEN", "offsetof(struct msghdr, msg_controllen)"),
            Map.entry("MSG_LEN", "offsetof(struct mmsghdr, msg_len)"),
            Map.entry("CMSG_BYTES", "CMSG_SPACE(sizeof(int))"),
            Map.entry("CMSG_LEVEL", "offsetof(struct cmsghdr, cmsg_level)"),
            Map.entry("CMSG_TYPE", "offsetof(struct cmsghdr, cmsg_type)"),
            Map.entry("CMSG_DATA", "CMSG_LEN(0)"),
            Map.entry("IP_MREQN_BYTES", "sizeof(struct ip_mreqn)"),
            Map.entry("IMR_ADDRESS", "offsetof(struct ip_mreqn, imr_address)"),
            Map.entry("MEMINFO_WORDS", "SK_MEMINFO_VARS"),
            Map.entry("SOL_UDP", "IPPROTO_UDP"));

    @TempDir
    private Path folder;

    @Test
    void shouldAgreeWithC() throws Exception {
        final Map<String, Long> constants = constants();
        final String lines = constants.keySet().stream()
                .map(name -> "printf(\"" + name + " %lld\\n\", (long long)(" + EXPRESSIONS.getOrDefault(name, name)
                        + "));\n")
                .collect(Collectors.joining());
        final Path source = folder.resolve("numbers.c");
        Files.writeString(source, HEAD + "int main(void) {\n" + lines + "return 0; }\n");
        final Path program = folder.resolve("numbers");
        Assumptions.assumeTrue(runs("gcc", "--version"), "no gcc on this machine");
        assertTrue(runs("gcc", "-o", program.toString(), source.toString()), this::said);
        assertTrue(runs(program.toString()));
        final List<String> expected = new ArrayList<>();
        constants.forEach((name, value) -> expected.add(name + " " + value));
        assertEquals(expected, Files.readAllLines(folder.resolve("said")));
    }

    private static Map<String, Long> constants() throws IllegalAccessException {
        final Map<String, Long> constants = new LinkedHashMap<>();
        for (final Field field : FloorNative.class.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.getType() == int.class) {
                constants.put(field.getName(), (long) field.getInt(null));
            }
        }
        assertTrue(constants.size() > 40, constants::toString);
        return constants;
    }

    private boolean runs(final String... command) throws InterruptedException {
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(folder.resolve("said").toFile())
                            .start()
                            .waitFor()
                    == 0;
        } catch (final IOException e) {
            return false;
        }
    }

    private String said() {
        try {
            return Files.readString(folder.resolve("said"));
        } catch (final IOException e) {
            return e.toString();
        }
    }
}
