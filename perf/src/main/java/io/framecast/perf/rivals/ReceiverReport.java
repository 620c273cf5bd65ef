package io.framecast.perf.rivals;

import io.framecast.samples.json.Json;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/// What a receiver measured of the frames that were due after the warm-up.
///
/// @param frames that arrived whole
/// @param bytes their payload
/// @param lostFrames frames of the whole stream, warm-up included, that never arrived whole
/// @param firstNs when the first of them was due at the publisher, by this machine's monotonic clock
/// @param lastNs when the last was in place
/// @param cpuNs of the whole process between the two, every thread of it
/// @param compileNs how long its compilers worked meanwhile
/// @param latencies from due to in place, in nanoseconds
public record ReceiverReport(
        long frames,
        long bytes,
        long lostFrames,
        long firstNs,
        long lastNs,
        long cpuNs,
        long compileNs,
        Histogram latencies) {

    /// In units of 10^6 bytes per second; 0 when nothing arrived.
    public double goodputMBps() {
        return lastNs > firstNs ? bytes * 1e3 / (lastNs - firstNs) : 0;
    }

    /// 0 when nothing arrived.
    public double framesPerSecond() {
        return lastNs > firstNs ? frames * 1e9 / (lastNs - firstNs) : 0;
    }

    /// One line.
    public String json() {
        final ByteBuffer encoded = ByteBuffer.allocate(latencies.getNeededByteBufferCapacity());
        final int length = latencies.encodeIntoCompressedByteBuffer(encoded);
        final byte[] bytesOfLatencies = new byte[length];
        encoded.get(0, bytesOfLatencies);
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("frames", frames);
        json.put("bytes", bytes);
        json.put("lost_frames", lostFrames);
        json.put("first_ns", firstNs);
        json.put("last_ns", lastNs);
        json.put("cpu_ns", cpuNs);
        json.put("compile_ns", compileNs);
        json.put("latencies", Base64.getEncoder().encodeToString(bytesOfLatencies));
        return Json.write(json);
    }

    /// Reads [#json].
    public static ReceiverReport parse(final String text) {
        final ReportFields json = ReportFields.parse(text);
        final ByteBuffer encoded = ByteBuffer.wrap(Base64.getDecoder().decode(json.text("latencies")));
        try {
            return new ReceiverReport(
                    json.number("frames"),
                    json.number("bytes"),
                    json.number("lost_frames"),
                    json.number("first_ns"),
                    json.number("last_ns"),
                    json.number("cpu_ns"),
                    json.number("compile_ns"),
                    Histogram.decodeFromCompressedByteBuffer(encoded, 0));
        } catch (final DataFormatException e) {
            throw new IllegalArgumentException("expected a histogram", e);
        }
    }
}
