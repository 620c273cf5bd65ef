package io.framecast.rdma;

import io.framecast.api.error.NativeException;
import io.framecast.rdma.verbs.CompletionQueue;
import io.framecast.rdma.verbs.DeviceAttributes;
import io.framecast.rdma.verbs.ProtectionDomain;
import io.framecast.rdma.verbs.QueuePair;
import io.framecast.rdma.verbs.QueuePairConfig;

/// How much of a lane's rings its device holds at a time. Rings may be longer: then sends push back, and
/// receives are posted as earlier ones complete, which is all that credit counts on.
///
/// @param sends sends that may be under way
/// @param receives receives that may be posted; 0 for a lane that only sends
record QueueDepths(int sends, int receives) {
    /// System property: `true` asks devices to keep a lane's own datagrams to the group away from it. Lanes drop
    /// these anyway, so the option saves one receive for each. Only where no two ends of a channel share a device:
    /// some drivers would keep them from hearing each other. Not seen on hardware.
    static final String BLOCKS_LOOPBACK_PROPERTY = "framecast.verbs.block-loopback";

    // Where a device refuses even that, the length of the queues is not the reason.
    private static final int SMALLEST = 64;
    private static final int EINVAL = 22;
    private static final int ENOMEM = 12;

    /// As long as the rings, and no longer than the device's queues.
    static QueueDepths of(final DeviceAttributes device, final int sendSlots, final int receiveSlots) {
        // One send more than slots: the probe's. One completion more than receives: a queue of none is refused.
        final int sends = Math.min(sendSlots + 1, Math.min(device.requestsMax(), device.completionsMax()));
        final int receives = Math.min(receiveSlots, Math.min(device.requestsMax(), device.completionsMax() - 1));
        return new QueueDepths(sends, receives);
    }

    /// Makes a queue pair for datagrams. A device's limit may hold for the smallest requests
    /// only, so a device that refuses is asked for half as much, and again.
    QueuePair queuePair(
            final ProtectionDomain domain, final CompletionQueue sendQueue, final CompletionQueue receiveQueue) {
        QueueDepths depths = this;
        while (true) {
            try {
                final QueuePairConfig config = new QueuePairConfig(
                        QueuePairConfig.Service.UD,
                        sendQueue,
                        receiveQueue,
                        new QueuePairConfig.Limits(depths.sends, depths.receives, 2, 3, 0));
                return blocksLoopback() ? domain.queuePairWithoutLoopback(config) : domain.queuePair(config);
            } catch (final NativeException e) {
                final QueueDepths half = depths.halved();
                if (half.equals(depths) || (e.errno() != EINVAL && e.errno() != ENOMEM)) {
                    throw e;
                }
                depths = half;
            }
        }
    }

    // One send is the probe's, which every lane has.
    private boolean blocksLoopback() {
        return sends > 1 && receives > 0 && Boolean.getBoolean(BLOCKS_LOOPBACK_PROPERTY);
    }

    private QueueDepths halved() {
        return new QueueDepths(
                Math.min(sends, Math.max(sends / 2, SMALLEST)), Math.min(receives, Math.max(receives / 2, SMALLEST)));
    }

    /// The depths of a queue pair made by [#queuePair]: devices grant more than was asked for, and the completion
    /// queues have no room for the surplus.
    QueueDepths within(final QueuePairConfig.Limits granted) {
        return new QueueDepths(Math.min(sends, granted.sends()), Math.min(receives, granted.receives()));
    }
}
