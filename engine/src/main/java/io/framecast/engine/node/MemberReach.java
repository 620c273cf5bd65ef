package io.framecast.engine.node;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSided.Access;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.RegisteredMemory;
import io.framecast.api.spi.Transport;
import io.framecast.engine.sink.Opened;
import io.framecast.reliability.SenderConfig;
import io.framecast.reliability.SenderMachine;
import io.framecast.reliability.SenderOutput;
import io.framecast.reliability.window.SlotGuards;
import io.framecast.reliability.wire.LinkOffer;
import io.framecast.reliability.wire.RemotePlace;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// What members of a source may do to its memory: write their grants, each into its word of the status
/// vector, and read the window; and what the source does to theirs: it writes the window into co-roots' copies.
/// An endpoint for each.
///
/// By the sender's thread.
final class MemberReach implements AutoCloseable {
    private static final VarHandle WORD = JAVA_LONG.varHandle();
    private static final int MEMBERS_MAX = SenderConfig.MEMBERS_MAX_DEFAULT;

    private final SendMemory memory;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment vector;
    private final RegisteredMemory words;
    private final PeerEndpoints peers;
    private final WindowShare window;
    private final long[] seen = new long[MEMBERS_MAX];
    private final @Nullable CopyWrites[] feeds = new CopyWrites[MEMBERS_MAX];

    private MemberReach(
            final OneSided oneSided,
            final SendMemory memory,
            final int writesMax,
            final String channel,
            final Consumer<String> notices) {
        this.memory = memory;
        try (Opened opened = new Opened()) {
            opened.add(arena);
            vector = arena.allocate(JAVA_LONG, MEMBERS_MAX);
            words = opened.add(oneSided.register(vector, Access.PEERS_WRITE));
            peers = new PeerEndpoints(
                    oneSided,
                    MEMBERS_MAX,
                    new PeerEndpoints.Ways(Access.PEERS_WRITE, writesMax),
                    "publisher of " + channel + ": a subscriber's credit and repair go by datagram: ",
                    notices);
            window = opened.add(new WindowShare(oneSided, memory, peers));
            opened.keep();
        }
    }

    /// @param writesMax operations of this side's under way at a time to each member; 0 where nothing is written
    /// @return null where the transport cannot, or the system refuses: then everything goes by datagram
    static @Nullable MemberReach open(
            final Transport transport,
            final SendMemory memory,
            final int writesMax,
            final String channel,
            final Consumer<String> notices) {
        final OneSided oneSided = transport.oneSided();
        if (oneSided == null) {
            return null;
        }
        try {
            return new MemberReach(oneSided, memory, writesMax, channel, notices);
        } catch (final TransportException e) {
            notices.accept("publisher of " + channel + ": credit and repair go by datagram: " + e.getMessage());
            return null;
        }
    }

    /// For members whose slots may be used again while they read them.
    SlotGuards guards() {
        return window.guards();
    }

    /// Begins to connect to a member's endpoint; its descriptor is from the wire.
    boolean accept(final int member, final byte[] descriptor) {
        return peers.accept(member, descriptor);
    }

    /// What the member must know; null until its endpoint is up.
    @Nullable
    LinkOffer offer(final int member) {
        return window.offer(member, new RemotePlace(words.address() + (long) member * Long.BYTES, words.key()));
    }

    /// Whether a member's endpoint failed; the operator is told once.
    boolean isBroken(final int member) {
        final CopyWrites feed = feeds[member];
        return peers.isBroken(member) || (feed != null && feed.isOver());
    }

    /// Lets [#feed] write into a member's copy of the window, or says again how far that has come.
    ///
    /// @param copy from the wire
    /// @return false when there is no connection to it, or no room for that
    boolean openFeed(final int member, final LinkOffer copy, final int epoch, final long first) {
        final OneSidedEndpoint endpoint = peers.up(member);
        if (endpoint == null) {
            return false;
        }
        final CopyWrites current = feeds[member];
        final CopyWrites feed = current == null ? new CopyWrites(endpoint, memory, window, copy) : current;
        feeds[member] = feed;
        return feed.begin(copy, epoch, first);
    }

    /// Writes what follows what was written before into a member's copy.
    ///
    /// @return as [CopyWrites#write]
    int feed(final int member, final long firstSequence, final int count) {
        final CopyWrites feed = feeds[member];
        return feed == null ? SenderOutput.NO_FEED : feed.write(firstSequence, count);
    }

    /// Slots from here on must not change, for devices read them.
    long freeable(final long limit) {
        long least = limit;
        for (int member = 0; member < peers.used(); member++) {
            final CopyWrites feed = feeds[member];
            least = feed == null ? least : Math.min(least, feed.freeable());
        }
        return least;
    }

    /// Whether something is being written.
    boolean isWriting() {
        return freeable(Long.MAX_VALUE) != Long.MAX_VALUE;
    }

    /// Cuts a member off; its word is nobody's then.
    void cut(final int member) {
        feeds[member] = null;
        if (peers.cut(member)) {
            WORD.setRelease(vector, (long) member * Long.BYTES, 0L);
            seen[member] = 0;
        }
    }

    /// Shows the machine which words have changed, and takes note of what was written.
    ///
    /// @return work done
    int poll(final SenderMachine machine) {
        int changed = 0;
        for (int member = 0; member < peers.used(); member++) {
            final long word = (long) WORD.getAcquire(vector, (long) member * Long.BYTES);
            if (word != seen[member]) {
                seen[member] = word;
                machine.onWord(member, word);
                changed++;
            }
            final CopyWrites feed = feeds[member];
            changed += feed != null && feed.poll() ? 1 : 0;
        }
        return changed;
    }

    /// Cuts everybody off.
    @Override
    public void close() {
        CloseHelper.closeAll(window, words, arena);
    }
}
