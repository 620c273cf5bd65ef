package io.framecast.perf.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.samples.json.Json;
import io.framecast.samples.tool.Main;
import io.framecast.testing.TestJvm;
import io.framecast.testing.TestPorts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The command line tool with frames in device memory, as users start it.
class DeviceSourceToolTest {
    private static Process start(final String... words) throws IOException {
        return new ProcessBuilder(TestJvm.command(Main.class, words))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private static Map<?, ?> json(final Process process) throws IOException, InterruptedException {
        final String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        final int status = process.waitFor();
        assertEquals(0, status, out);
        return (Map<?, ?>) Json.parse(out.strip());
    }

    @Test
    void shouldPublishOutOfADeviceAndSayWhichWayFramesTook() throws Exception {
        final int port = TestPorts.triple();
        final String uri = "framecast:udp?group=224.20.30.49:" + port + "|interface=127.0.0.1";
        final Process subscriber =
                start("subscribe", uri + "|device=emulated:1|placement=fastcopy|fastcopy-max=64k", "--json", "-");
        final Process publisher = start(
                "publish",
                uri,
                "--input",
                "test",
                "--frame-bytes",
                "300000",
                "--frames",
                "40",
                "--device",
                "emulated:0",
                "--json",
                "-");
        final Map<?, ?> published = json(publisher);
        final Map<?, ?> received = json(subscriber);
        assertEquals("emulated:0", published.get("device"));
        assertEquals("emulated:1", received.get("device"));
        final Map<?, ?> source = (Map<?, ?>) published.get("source_memory");
        assertEquals(0L, source.get("gather_max_bytes"));
        assertEquals(2, ((List<?>) source.get("refused")).size(), "" + source);
        final Map<?, ?> placement = (Map<?, ?>) received.get("placement");
        assertEquals("fastcopy", placement.get("way"));
        assertEquals(65_536L, placement.get("fastcopy_max_bytes"));
        final Map<?, ?> sent = (Map<?, ?>) published.get("publisher");
        final Map<?, ?> got = (Map<?, ?>) ((List<?>) received.get("subscribers")).getFirst();
        assertEquals(40L, got.get("frames"));
        assertEquals(sent.get("stream_crc32c"), got.get("stream_crc32c"));
    }

    @Tag("campaign")
    @Test
    void shouldTellOfEachLitmusAsJson() throws Exception {
        final Map<?, ?> json = json(start("litmus", "--rounds", "300", "--json", "-"));
        assertEquals(true, json.get("ok"));
        assertTrue(((String) json.get("device")).startsWith("emulated:0: emulated GPU"), "" + json.get("device"));
        final List<?> rows = (List<?>) json.get("rows");
        assertEquals(12, rows.size());
        assertEquals(
                5,
                rows.stream()
                        .filter(row -> Boolean.TRUE.equals(((Map<?, ?>) row).get("planted")))
                        .count());
    }
}
