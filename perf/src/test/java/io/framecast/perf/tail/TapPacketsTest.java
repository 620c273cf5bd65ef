package io.framecast.perf.tail;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class TapPacketsTest {
    private static final int FRAME_BYTES = 3_000;
    private static final int FULL_BYTES = DataLayout.LENGTH + TailSpec.SLOT_BYTES;
    private static final int LAST_BYTES = DataLayout.LENGTH + FRAME_BYTES - 2 * TailSpec.SLOT_BYTES;

    private final MemorySegment packet = Arena.ofAuto().allocate(1 << 16, 8);
    private final List<TailLog.Event> events = new ArrayList<>();

    private void write(final long offset, final long frameBytes, final long frame, final long index) {
        final DataHeader header = new DataHeader()
                .session(DataLayout.TYPE_DATA, 77)
                .frame(frame, frameBytes, 0)
                .attributes(0, 0);
        DataLayout.write(packet, offset, header, 3 * frame + index, index);
    }

    private List<TailLog.Event> read(final long bytes) {
        new TapPackets(new TailSpec.Load(FRAME_BYTES, 1, 0, 1))
                .read(packet.asSlice(0, bytes), TailLog.Kind.REPAIR, 9, events);
        return events;
    }

    private static TailLog.Event event(final long sequence, final long frame) {
        return new TailLog.Event(TailLog.Kind.REPAIR, sequence, frame, 9);
    }

    @Test
    void shouldFindEachDatagramOfAPacket() {
        write(0, FRAME_BYTES, 4, 1);
        write(FULL_BYTES, FRAME_BYTES, 4, 2);
        assertEquals(List.of(event(13, 4), event(14, 4)), read(FULL_BYTES + LAST_BYTES));
    }

    @Test
    void shouldPassOverWhatIsNoDatagramOfTheStream() {
        write(0, FRAME_BYTES + 1, 4, 1);
        assertEquals(List.of(), read(FULL_BYTES));
        write(0, FRAME_BYTES, 4, 3);
        assertEquals(List.of(), read(FULL_BYTES));
        write(0, FRAME_BYTES, 4, 0);
        assertEquals(List.of(), read(FULL_BYTES - 1));
        assertEquals(List.of(), read(DataLayout.LENGTH));
        assertEquals(List.of(event(12, 4)), read(FULL_BYTES));
    }
}
