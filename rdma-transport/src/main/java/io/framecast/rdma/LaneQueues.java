package io.framecast.rdma;

import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.rdma.verbs.CompletionChannel;
import io.framecast.rdma.verbs.CompletionQueue;
import io.framecast.rdma.verbs.QueuePair;
import org.jspecify.annotations.Nullable;

/// A lane's queue pair for datagrams, and its completion queues.
///
/// @param wakeup announces completions of receives; null for a lane that only sends
/// @param depths of the queues, as the device granted them
record LaneQueues(
        QueuePair pair,
        CompletionQueue sends,
        CompletionQueue receives,
        @Nullable CompletionChannel wakeup,
        QueueDepths depths) {
    /// Opens them for a lane's rings, and starts the queue pair.
    ///
    /// @param resources keep them
    static LaneQueues open(
            final LaneResources resources, final RdmaPort port, final LaneConfig config, final int queueKey) {
        final SendRing sendRing = config.send();
        final ReceiveRing receiveRing = config.receive();
        final QueueDepths wanted = QueueDepths.of(
                port.context().attributes(),
                sendRing == null ? 0 : sendRing.slots(),
                receiveRing == null ? 0 : receiveRing.slots());
        final CompletionQueue sends = resources.keep(port.context().completionQueue(wanted.sends(), null));
        final CompletionChannel wakeup =
                receiveRing == null ? null : resources.keep(port.context().completionChannel());
        final CompletionQueue receives = resources.keep(port.context().completionQueue(wanted.receives() + 1, wakeup));
        final QueuePair pair = resources.keep(wanted.queuePair(port.domain(), sends, receives));
        pair.startDatagrams(port.gid().port(), 0, queueKey);
        return new LaneQueues(pair, sends, receives, wakeup, wanted.within(pair.limits()));
    }
}
