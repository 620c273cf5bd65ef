package io.framecast.samples.programs;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

/// The example of README.md: one frame from host memory into device memory, publisher and subscriber in one
/// process.
final class TenLines {
    private TenLines() {}

    public static void main(final String[] arguments) {
        final Channel channel = Channel.parse("framecast:auto?group=224.20.30.39:24326|interface=127.0.0.1");
        try (Framecast node = Framecast.launch();
                Subscriber subscriber = node.subscribe(channel);
                Publisher publisher = node.publish(channel)) {
            final MemorySegment picture = Arena.global().allocate(1920 * 1080 * 3);
            while (publisher.offer(picture, FrameOptions.KEYFRAME) < 0) Thread.onSpinWait();
            DeviceFrame frame;
            while ((frame = subscriber.poll()) == null) subscriber.awaitFrame(Duration.ofSeconds(1));
            frame.awaitReady(); // every byte is now at frame.region().address(), in the device's memory
            System.out.println(
                    frame.length() + " bytes on " + subscriber.device().name());
            frame.close();
        }
    }
}
