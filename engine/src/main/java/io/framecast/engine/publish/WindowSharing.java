package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.engine.ready.Wakeup;
import io.framecast.engine.session.ProtectionLevel;
import io.framecast.engine.session.SendMemory;
import io.framecast.engine.session.SessionContext;
import io.framecast.reliability.session.SendSession;

/// The access of subscribers on a source's host to its window: none, or they read frames where they lie.
public abstract sealed class WindowSharing {
    private WindowSharing() {}

    /// Subscribers on this host get datagrams, as all others.
    public static WindowSharing none() {
        return new None();
    }

    /// Subscribers on this host may read the window.
    ///
    /// @param sender wakes the sender's thread
    public static WindowSharing onHost(final Wakeup sender) {
        return new OnHost(sender);
    }

    /// The memory of a source's window.
    ///
    /// @param gathers whether payloads may lie in device memory
    abstract SendMemory memory(Channel channel, int slotBytes, boolean gathers);

    /// The readers of the window beside the network.
    abstract WindowReaders readers(
            Channel channel,
            PublisherProtection protection,
            SourceLanes lanes,
            SendSession session,
            SessionContext context);

    private static final class None extends WindowSharing {
        @Override
        SendMemory memory(final Channel channel, final int slotBytes, final boolean gathers) {
            final int headerBytes =
                    ProtectionLevel.of(channel.link().security()).headerBytes();
            return new SendMemory(
                    WindowSize.slots(channel, slotBytes, false), slotBytes, headerBytes, false, false, gathers);
        }

        @Override
        WindowReaders readers(
                final Channel channel,
                final PublisherProtection protection,
                final SourceLanes lanes,
                final SendSession session,
                final SessionContext context) {
            return new NoReaders();
        }
    }

    private static final class OnHost extends WindowSharing {
        private final Wakeup sender;

        OnHost(final Wakeup sender) {
            this.sender = sender;
        }

        // Subscribers read payloads as the user wrote them; encrypted ones lie beside them.
        @Override
        SendMemory memory(final Channel channel, final int slotBytes, final boolean gathers) {
            final ProtectionLevel level = ProtectionLevel.of(channel.link().security());
            return new SendMemory(
                    WindowSize.slots(channel, slotBytes, true),
                    slotBytes,
                    level.headerBytes(),
                    true,
                    level == ProtectionLevel.PAYLOADS,
                    gathers);
        }

        @Override
        WindowReaders readers(
                final Channel channel,
                final PublisherProtection protection,
                final SourceLanes lanes,
                final SendSession session,
                final SessionContext context) {
            return HostReaders.share(channel, protection, lanes.memory().shared(), session, sender, context);
        }
    }
}
