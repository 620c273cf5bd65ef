package io.framecast.perf.litmus;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Subscriber;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/// A process that takes frames into an emulated device and holds them until it is killed.
final class HoldingChild {
    private HoldingChild() {}

    /// @param arguments channel, frames to hold
    public static void main(final String[] arguments) {
        final int count = Integer.parseInt(arguments[1]);
        final List<DeviceFrame> held = new ArrayList<>();
        final Framecast node = Framecast.launch(NodeConfig.DEFAULT);
        final Subscriber subscriber = node.subscribe(Channel.parse(arguments[0]));
        while (held.size() < count) {
            final DeviceFrame frame = subscriber.poll();
            if (frame == null) {
                subscriber.awaitFrame(Duration.ofMillis(100));
            } else {
                frame.awaitReady();
                held.add(frame);
            }
        }
        System.out.println("holding " + held.size());
        System.out.flush();
        while (true) {
            LockSupport.park();
        }
    }
}
