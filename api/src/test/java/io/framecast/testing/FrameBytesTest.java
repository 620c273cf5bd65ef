package io.framecast.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FrameBytesTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 77, 255, 1_000_000, Integer.MAX_VALUE})
    void shouldGiveTheSameBytesOneByOneAndAtOnce(final int id) {
        final byte[] bytes = FrameBytes.of(id, 10_001);
        for (int i = 0; i < bytes.length; i++) {
            assertEquals(FrameBytes.value(id, i), bytes[i]);
        }
        final MemorySegment frame = MemorySegment.ofArray(bytes);
        FrameBytes.require(id, frame, 9_000);
        bytes[8_999]++;
        assertThrows(AssertionError.class, () -> FrameBytes.require(id, frame, 9_000));
        FrameBytes.require(id, frame, 8_999);
    }
}
