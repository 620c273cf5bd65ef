package io.framecast.engine.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class NumaPolicyTest {
    private final List<String> notices = new ArrayList<>();

    @BeforeEach
    void requirePolicies() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
        assumeTrue(mode() == Linux.MPOL_DEFAULT, "the process has a policy, or may have none");
    }

    private static int mode() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment mode = arena.allocate(ValueLayout.JAVA_INT);
            return Libc.getMempolicy(mode) == 0 ? mode.get(ValueLayout.JAVA_INT, 0) : -1;
        }
    }

    @Test
    void shouldPreferANodeUntilItIsClosed() {
        try (NumaPolicy _ = NumaPolicy.prefer(0, notices::add)) {
            assertEquals(Linux.MPOL_PREFERRED, mode());
            // As where the process was started with a policy: it stays.
            NumaPolicy.prefer(0, notices::add).close();
            assertEquals(Linux.MPOL_PREFERRED, mode());
            MirroredMemory.allocate(1 << 20, 0).close();
        }
        assertEquals(Linux.MPOL_DEFAULT, mode());
        assertEquals(List.of(), notices);
    }

    @Test
    void shouldReportARefusalAndGoOn() {
        // A number that the kernel knows, of a node that no machine of this size has.
        try (NumaPolicy _ = NumaPolicy.prefer(1023, notices::add)) {
            assertEquals(Linux.MPOL_DEFAULT, mode());
        }
        assertEquals(1, notices.size());
        assertTrue(
                notices.getFirst().startsWith("memory: the kernel refuses memory of NUMA node 1023 (errno "),
                notices.getFirst());
    }

    @Test
    void shouldChangeNothingForAnyNode() {
        try (NumaPolicy _ = NumaPolicy.prefer(NumaPolicy.ANY_NODE, notices::add)) {
            assertEquals(Linux.MPOL_DEFAULT, mode());
        }
        assertEquals(List.of(), notices);
    }
}
