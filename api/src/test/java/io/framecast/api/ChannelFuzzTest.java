package io.framecast.api;

import static io.framecast.fuzz.FuzzLimits.require;
import static io.framecast.fuzz.FuzzLimits.requireAllocation;
import static io.framecast.fuzz.FuzzLimits.requireEqual;

import io.framecast.api.error.ConfigException;
import io.framecast.fuzz.FuzzCorpus;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// The URI of a channel: it is refused with a message, or read, and its text is read again as an equal channel.
public final class ChannelFuzzTest {
    // Jazzer's own look at regular expressions allocates most of it.
    private static final long ALLOCATED_MAX = 256 << 20;
    private static final String[] SEEDS = {
        "framecast:auto?group=224.20.30.39:24326",
        "framecast:udp?group=[ff12::a]:24326|channel=cam1|interface=eth0|mtu=9000|ttl=4|dscp=26|socket-buffer=8m|rate=1g",
        "framecast:aeron?control=10.0.0.1:4000|window=64M|frame-max=128m|ring=1g|ring-max=2g|frames-held=5|device=cuda:1",
        "framecast:aeron?ipc=/dev/shm/x|delivery=deadline=40ms|alive-timeout=2000|reorder=7|one-sided=off|co-roots=12",
        "framecast:verbs?group=224.0.0.1:5|feed=unicast|site=rack-3|serve=no|sources=3|rejoin=2500ms",
        "framecast:auto?group=224.0.0.1:5|join=keyframe|host-group=night|leaders=nic|attach-after=250ms|delivery=evict=1s",
        "framecast:auto?group=224.0.0.1:5|placement=fastcopy|fastcopy-max=16k|fastcopy-read-max=auto|gather-max=0|chunk=1m",
        "framecast:auto?group=224.0.0.1:5|unicast-ports=40000-40015|delivery=latest|co-roots=auto|rejoin=off"
    };

    @TestFactory
    Stream<DynamicTest> shouldReadOrRefuse() {
        final Map<String, byte[]> seeds = new HashMap<>();
        for (int i = 0; i < SEEDS.length; i++) {
            seeds.put(String.valueOf(i), SEEDS[i].getBytes(StandardCharsets.UTF_8));
        }
        return FuzzCorpus.of(ChannelFuzzTest.class, seeds, ChannelFuzzTest::fuzzerTestOneInput);
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        requireAllocation(ALLOCATED_MAX, () -> read(new String(input, StandardCharsets.UTF_8)));
    }

    private static void read(final String text) {
        final Channel channel;
        try {
            channel = Channel.parse(text);
        } catch (final ConfigException e) {
            require(!String.valueOf(e.getMessage()).isEmpty(), "a message");
            return;
        }
        requireEqual(channel, Channel.parse(channel.toString()));
        requireEqual(channel.toString(), Channel.parse(channel.toString()).toString());
        requireEqual(channel.withTransport("udp").withStream(channel.stream()), channel.withTransport("udp"));
    }
}
