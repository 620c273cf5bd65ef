package io.framecast.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.engine.aeron.AeronTransportProvider;
import io.framecast.engine.testing.ScriptedTransport;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.engine.udp.UdpTransportProvider;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Interrupted users, like tasks of an executor that shuts down, close the objects they opened.
class InterruptTest {
    private static final String SETTINGS = "|mtu=1500|frame-max=60000|window=200k|device=host";

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().contains("framecast-"))
                .count();
    }

    @ParameterizedTest
    @CsvSource({"udp, SHARED", "udp, DEDICATED", "udp, INVOKER", "aeron, DEDICATED", "aeron, INVOKER"})
    void shouldStopItsThreadsBeforeItFreesTheirMemoryWhenClosedByAnInterruptedThread(
            final String name, final Threading threading) {
        final long before = threads();
        final NodeConfig config = NodeConfig.DEFAULT.withThreading(threading);
        for (int i = 0; i < (name.equals("udp") ? 4 : 2); i++) {
            final ScriptedTransport transport = new ScriptedTransport(
                    name.equals("udp") ? new UdpTransportProvider() : new AeronTransportProvider());
            final Framecast node = TestNode.launch(config, transport);
            final Channel channel = StreamFixture.channel(name, SETTINGS);
            final Publisher publisher = node.publish(channel);
            final Subscriber subscriber = node.subscribe(channel);
            while (publisher.readySubscribers() == 0) {
                if (threading == Threading.INVOKER) {
                    node.doWork();
                }
                LockSupport.parkNanos(20_000);
            }
            Thread.currentThread().interrupt();
            node.close();
            assertTrue(threads() <= before, "threads that run though their node is closed");
            assertTrue(Thread.interrupted(), "the caller sees the interrupt");
            assertEquals(Subscriber.State.CLOSED, subscriber.state());
            assertEquals(List.of(), transport.leaks());
        }
    }
}
