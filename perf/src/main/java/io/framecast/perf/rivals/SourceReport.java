package io.framecast.perf.rivals;

import io.framecast.samples.json.Json;
import java.util.LinkedHashMap;
import java.util.Map;

/// What a publisher measured, from the end of its warm-up until its last frame was taken.
///
/// @param transport what carried the frames
/// @param bytes payload
/// @param cpuNs of the whole process, every thread of it
/// @param interfaceBytes what its network interface sent meanwhile, link headers included
/// @param datagrams that it sent on every lane, or −1 where it cannot know
/// @param datagramBytes their UDP payload, or −1
public record SourceReport(
        String transport,
        long frames,
        long bytes,
        long cpuNs,
        long interfaceBytes,
        long datagrams,
        long datagramBytes) {
    /// What is not known.
    public static final long UNKNOWN = -1;

    /// One line.
    public String json() {
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("transport", transport);
        json.put("frames", frames);
        json.put("bytes", bytes);
        json.put("cpu_ns", cpuNs);
        json.put("interface_bytes", interfaceBytes);
        json.put("datagrams", datagrams);
        json.put("datagram_bytes", datagramBytes);
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
                json.number("interface_bytes"),
                json.number("datagrams"),
                json.number("datagram_bytes"));
    }
}
