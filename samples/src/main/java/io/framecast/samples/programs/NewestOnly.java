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

/// The second example of README.md: a screen that shows the newest picture and slows no other subscriber down.
final class NewestOnly {
    private NewestOnly() {}

    public static void main(final String[] arguments) {
        final Channel channel =
                Channel.parse("framecast:auto?group=224.20.30.39:24332|interface=127.0.0.1|delivery=latest");
        try (Framecast node = Framecast.launch();
                Subscriber screen = node.subscribe(channel);
                Publisher camera = node.publish(channel)) {
            screen.onLoss((first, count, why) -> System.out.println(count + " frame(s) from " + first + ": " + why));
            final MemorySegment picture = Arena.global().allocate(1920 * 1080 * 3);
            for (int i = 0; i < 3; i++) while (camera.offer(picture, FrameOptions.DEFAULT) < 0) Thread.onSpinWait();
            camera.close(Duration.ofSeconds(10));
            while (screen.awaitFrame(Duration.ofSeconds(1))) {
                final DeviceFrame frame = screen.poll(); // null where only dropped frames were waiting
                if (frame != null) frame.close();
            }
        }
    }
}
