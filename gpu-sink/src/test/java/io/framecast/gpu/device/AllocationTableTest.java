package io.framecast.gpu.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.framecast.gpu.device.AllocationTable.Allocation;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class AllocationTableTest {
    @Test
    void shouldFindWhatATreeFindsWhenRangesComeAndGo() {
        final Random random = new Random(7);
        final AllocationTable table = new AllocationTable();
        final TreeMap<Long, Long> model = new TreeMap<>();
        for (int step = 0; step < 20_000; step++) {
            final long slot = random.nextInt(64) * 1000L + 1000;
            if (random.nextBoolean()) {
                if (!model.containsKey(slot)) {
                    final long bytes = 1L + random.nextInt(900);
                    model.put(slot, bytes);
                    table.add(new Allocation(slot, bytes, MemorySegment.NULL));
                }
            } else {
                final Long bytes = model.remove(slot);
                assertEquals(bytes != null, table.remove(slot, bytes == null ? 1 : bytes) != null);
            }
            final long probe = random.nextInt(70_000);
            final long length = random.nextInt(1000);
            final Map.Entry<Long, Long> expected = model.floorEntry(probe);
            final Allocation found = table.find(probe);
            if (expected == null || probe > expected.getKey() + expected.getValue()) {
                assertNull(found);
            } else {
                assertNotNull(found);
                final boolean inside = probe + length <= expected.getKey() + expected.getValue();
                assertEquals(inside, found.holds(probe, length));
            }
            assertEquals(model.values().stream().mapToLong(Long::longValue).sum(), table.totalBytes());
        }
    }
}
