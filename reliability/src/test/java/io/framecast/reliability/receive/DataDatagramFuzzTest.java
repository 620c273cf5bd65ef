package io.framecast.reliability.receive;

import static io.framecast.fuzz.FuzzLimits.require;
import static io.framecast.fuzz.FuzzLimits.requireAllocation;
import static io.framecast.fuzz.FuzzLimits.requireEqual;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.fuzz.FuzzCorpus;
import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.FrameLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.HeaderRun;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// A datagram of the data lane, as it is and again with its checksums set right: after [Verdict#GOOD] no value is
/// impossible, frames of a bundle lie within its payload one behind the other, and a run holds sealed headers only.
public final class DataDatagramFuzzTest {
    private static final long ALLOCATED_MAX = 1 << 20;
    private static final int SLOT_BYTES = 1408;
    private static final long SESSION = 0x0fed_cba9_8765_4321L;
    private static final StreamInfo STREAM =
            new StreamInfo(SESSION, "fuzz", SLOT_BYTES, 64, 10_000, 1000, new byte[] {1}, new byte[] {2});
    private static final HeaderChecksum CHECKSUM = new HeaderChecksum();

    @TestFactory
    Stream<DynamicTest> shouldTakeOnlyWhatIsPossible() {
        return FuzzCorpus.of(
                DataDatagramFuzzTest.class,
                Map.of(
                        "first", frame(5, 0, 2000, SLOT_BYTES),
                        "last", frame(6, 1, 2000, 2000 - SLOT_BYTES),
                        "short", frame(9, 0, 3, 3),
                        "probe", probe(),
                        "bundle", bundle(64, 65, 1),
                        "run", run(4)),
                DataDatagramFuzzTest::fuzzerTestOneInput);
    }

    private static byte[] frame(final long sequence, final int index, final long frameBytes, final int bytes) {
        final MemorySegment datagram = MemorySegment.ofArray(new byte[DataLayout.LENGTH + bytes]);
        final DataHeader values = new DataHeader()
                .session(DataLayout.TYPE_DATA, SESSION)
                .frame(3, frameBytes, 1_000_000)
                .format(2)
                .attributes(DataLayout.FLAG_KEYFRAME, 10);
        DataLayout.write(datagram, 0, values, sequence, index);
        CHECKSUM.seal(datagram, 0, SESSION);
        return datagram.toArray(JAVA_BYTE);
    }

    private static byte[] probe() {
        final MemorySegment datagram = MemorySegment.ofArray(new byte[DataLayout.LENGTH + SLOT_BYTES]);
        DataLayout.write(datagram, 0, new DataHeader().session(DataLayout.TYPE_PROBE, SESSION), 0, 77);
        CHECKSUM.seal(datagram, 0, SESSION);
        return datagram.toArray(JAVA_BYTE);
    }

    private static byte[] bundle(final int... lengths) {
        int payload = 0;
        for (final int length : lengths) {
            payload = BundleLayout.align(payload) + length;
        }
        final int table = DataLayout.LENGTH + BundleLayout.align(payload);
        final int bytes = table + BundleLayout.tableBytes(lengths.length);
        final MemorySegment datagram = MemorySegment.ofArray(new byte[bytes]);
        final DataHeader values = new DataHeader()
                .session(DataLayout.TYPE_DATA, SESSION)
                .frame(3, bytes - DataLayout.LENGTH, 1_000_000)
                .attributes(DataLayout.FLAG_BUNDLE, lengths.length);
        DataLayout.write(datagram, 0, values, 5, 0);
        CHECKSUM.seal(datagram, 0, SESSION);
        for (int i = 0; i < lengths.length; i++) {
            BundleLayout.write(datagram, table, i, BundleLayout.entry(lengths[i], 0, i));
        }
        BundleLayout.seal(
                datagram, table, lengths.length, CHECKSUM.ofBundle(datagram, table, lengths.length, SESSION, 5));
        return datagram.toArray(JAVA_BYTE);
    }

    private static byte[] run(final int count) {
        final MemorySegment headers = MemorySegment.ofArray(new byte[(1 + count) * DataLayout.LENGTH]);
        final byte[] first = frame(5, 0, 9000, SLOT_BYTES);
        MemorySegment.copy(first, 0, headers, JAVA_BYTE, 0, DataLayout.LENGTH);
        HeaderRun.write(headers, 0, DataLayout.LENGTH, count);
        return headers.toArray(JAVA_BYTE);
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        requireAllocation(ALLOCATED_MAX, () -> {
            // A lane gives whole headers: a shorter datagram leaves an old one there.
            final byte[] datagram = java.util.Arrays.copyOf(input, Math.max(input.length, DataLayout.LENGTH));
            final MemorySegment memory = MemorySegment.ofArray(datagram);
            read(memory, input.length);
            followRun(memory);
            seal(memory);
            read(memory, input.length);
            followRun(memory);
        });
    }

    private static void seal(final MemorySegment datagram) {
        final boolean bundle = DataLayout.isBundle(datagram, 0);
        final int frames = DataLayout.bundleFrames(datagram, 0);
        final long sequence = DataLayout.SEQUENCE.get(datagram, 0);
        final byte first = datagram.get(JAVA_BYTE, 0);
        datagram.set(JAVA_BYTE, 0, (byte) (2 << 4 | (first & 3)));
        datagram.set(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, DataLayout.SESSION_TAG.at(), (int) SESSION);
        CHECKSUM.seal(datagram, 0, SESSION);
        final long table = datagram.byteSize() - BundleLayout.tableBytes(Math.min(frames, BundleLayout.FRAMES_MAX));
        if (bundle && frames > 0 && frames <= BundleLayout.FRAMES_MAX && table >= DataLayout.LENGTH) {
            BundleLayout.seal(datagram, table, frames, CHECKSUM.ofBundle(datagram, table, frames, SESSION, sequence));
        }
    }

    private static void read(final MemorySegment datagram, final int bytes) {
        if (new HeaderCheck(STREAM).check(datagram, 0, bytes) != Verdict.GOOD
                || DataLayout.type(datagram, 0) == DataLayout.TYPE_PROBE) {
            return;
        }
        requireEqual(bytes, DataLayout.datagramBytes(datagram, 0, DataLayout.LENGTH, SLOT_BYTES));
        require(DataLayout.format(datagram, 0) < 16, "a format of 4 bits");
        require(DataLayout.SEQUENCE.get(datagram, 0) >= 0, "a sequence");
        if (DataLayout.isBundle(datagram, 0)) {
            readBundle(datagram, bytes - DataLayout.LENGTH);
            return;
        }
        final long index = DataLayout.FRAME_INDEX.unsigned(datagram, 0);
        final long behind = index * SLOT_BYTES + bytes - DataLayout.LENGTH;
        require(behind <= DataLayout.FRAME_BYTES.unsigned(datagram, 0), "a payload within its frame");
        require(DataLayout.METADATA_BYTES.get(datagram, 0) <= FrameLayout.METADATA_BYTES_MAX, "metadata");
    }

    private static void readBundle(final MemorySegment datagram, final int payloadBytes) {
        final int frames = DataLayout.bundleFrames(datagram, 0);
        final ReceivedFrame frame = new ReceivedFrame();
        frame.set(500, DataLayout.SEQUENCE.get(datagram, 0), payloadBytes, frames);
        frame.attributes(DataLayout.TIMESTAMP.get(datagram, 0), DataLayout.flags(datagram, 0), null);
        final BundleTable table = new BundleTable(STREAM);
        if (!table.open(datagram, datagram.byteSize(), frame)) {
            requireEqual(0, table.remaining());
            return;
        }
        requireEqual(frames, table.remaining());
        long end = 0;
        for (ReceivedFrame part = table.next(); part != null; part = table.next()) {
            require(part.slotOffset() >= end, "frames one behind the other");
            require(part.bytes() > 0 && part.bytes() <= STREAM.frameMaxBytes(), "a frame's length");
            end = part.slotOffset() + part.bytes();
            require(end <= payloadBytes - BundleLayout.tableBytes(frames), "frames in front of the table");
            requireEqual(0, part.bundleFrames());
        }
    }

    private static void followRun(final MemorySegment headers) {
        final int max = (int) (headers.byteSize() / DataLayout.LENGTH) - 1;
        final int run = HeaderRun.length(headers, 0, DataLayout.LENGTH, max);
        require(run >= 0 && run <= max, "a run within the headers");
        final boolean sealed = CHECKSUM.isSealed(headers, 0, SESSION);
        for (int i = 1; i <= run; i++) {
            requireEqual(sealed, CHECKSUM.isSealed(headers, (long) i * DataLayout.LENGTH, SESSION));
        }
    }
}
