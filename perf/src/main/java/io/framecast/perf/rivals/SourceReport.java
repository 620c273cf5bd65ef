package io.framecast.perf.rivals;

import io.framecast.samples.json.Json;
import java.util.LinkedHashMap;
import java.util.Map;

/// What a publisher measured, from the end of its warm-up until its last frame was taken.
///
/// @param transport what carried the frames
/// @param bytes payload
/// @param cpuNs of the whole process, every thread of it
/// @param compileNs how long its compilers worked meanwhile
/// @param interfaceBytes what its network interface sent meanwhile, link headers included
/// @param payloadBytes payload of the datagrams that it sent on every lane, or of its connections; −1 where it cannot
///     know
/// @param wireBytes the same with IP, UDP and TCP headers, as far as it knows; −1 where it cannot
public record SourceReport(
        String transport,
        long frames,
        long bytes,
        long cpuNs,
        long compileNs,
        long interfaceBytes,
        long payloadBytes,
        long wireBytes) {
    /// What is not known.
    public static final long UNKNOWN = -1;

    /// One line.
    public String json() {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("transport", transport);
        json.put("frames", frames);
        json.put("bytes", bytes);
        json.put("cpu_ns", cpuNs);
        json.put("compile_ns", compileNs);
        json.put("interface_bytes", interfaceBytes);
        json.put("payload_bytes", payloadBytes);
        json.put("wire_bytes", wireBytes);
        return Json.write(json);
    }

    /// Reads [#json].
    public static SourceReport parse(final String text) {
        final ReportFields json = ReportFields.parse(text);
        return new SourceReport(
                json.text("transport"),
                json.number("frames"),
                json.number("bytes"),
                json.number("cpu_ns"),
                json.number("compile_ns"),
                json.number("interface_bytes"),
                json.number("payload_bytes"),
                json.number("wire_bytes"));
    }
}
