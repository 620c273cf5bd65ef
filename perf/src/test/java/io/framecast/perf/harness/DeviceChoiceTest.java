package io.framecast.perf.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.DeviceBackend;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class DeviceChoiceTest {
    @AfterEach
    void forgetTheLink() {
        DeviceChoice.limitLink(0);
    }

    private static DeviceChoice parse(final String name) {
        return DeviceChoice.parse(name);
    }

    @Test
    void shouldReadNames() {
        assertEquals(new DeviceChoice("emulated", 0), parse("emulated"));
        assertEquals("cuda:3", parse("cuda:3").text());
        assertEquals("host", parse("host").text());
        assertEquals("emulated:1?peermem", parse("emulated:1?peermem").text());
        assertEquals("emulated:0?peermem", parse("emulated?peermem").text());
        assertEquals(new DeviceChoice("emulated", 0), new DeviceChoice("emulated", 0).resolved());
    }

    @Test
    void shouldGiveADeviceWithThatLink() {
        try (DeviceBackend device = parse("emulated:2").open(123_000_000)) {
            assertEquals("emulated:2", device.name());
            assertTrue(!device.description().contains("unlimited link"), device.description());
        }
        try (DeviceBackend device = parse("emulated:2").open(0)) {
            assertTrue(device.description().contains("unlimited link"), device.description());
        }
    }
}
