package io.framecast.reliability.secure;

import io.framecast.reliability.send.MemberStatus;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.session.SendSession;
import io.framecast.reliability.window.SendWindow;

/// Changes the keys of a protected stream: after an eviction, by time, and where they were used long enough. The window
/// holds datagrams of two epochs at most: receivers need no key of an earlier one.
///
/// One thread: the sender's.
public final class KeyRotation {
    // With payloads of 64 KiB AES-GCM's bound on an attacker's advantage is then 2^-42 (NIST SP 800-38D, appendix C).
    private static final long DATAGRAMS_MAX = 1L << 31;

    private final SourceProtection protection;
    private final SendWindow window;
    private final SenderMachine machine;
    private final long everyNs;
    private final long switchNs;
    private int epoch;
    // The first sequence of the epoch in use, or one behind it.
    private long begin;
    private boolean isDue;
    private long dueNs = Long.MAX_VALUE;

    /// @param everyNs time between two changes; 0 for no such change
    /// @param switchNs time after which keys are used that not all members have acknowledged
    public KeyRotation(
            final SourceProtection protection,
            final SendWindow window,
            final SendSession session,
            final long everyNs,
            final long switchNs) {
        this.protection = protection;
        this.window = window;
        machine = session.machine();
        this.everyNs = everyNs;
        this.switchNs = switchNs;
        epoch = protection.dataKeys().epoch();
        protection.useWhere(() -> window.freed() >= begin && session.pauseUntilSent(), window::sealed);
    }

    /// A member was evicted, and has its notice: it gets no further keys.
    public void onEvicted(final long receiverId) {
        final int handshakeId = (int) (receiverId >>> 32);
        if (!isMember(handshakeId)) {
            protection.evict(handshakeId, this::isMember);
            isDue = true;
        }
    }

    private boolean isMember(final int handshakeId) {
        for (int place = 0; place < machine.membersMax(); place++) {
            final MemberStatus member = machine.member(place);
            if (member.isActive() && (int) (member.id() >>> 32) == handshakeId) {
                return true;
            }
        }
        return false;
    }

    /// In each cycle, after the protection's work.
    public void tick(final long nowNs) {
        if (everyNs > 0 && dueNs == Long.MAX_VALUE) {
            dueNs = nowNs + everyNs;
        }
        if (epoch != protection.dataKeys().epoch()) {
            epoch = protection.dataKeys().epoch();
            begin = window.sealed();
            // Before anything is sealed under it: receivers take nothing of the one before from here on.
            machine.announce(nowNs);
        }
        final boolean isWorn = window.sealed() - begin > DATAGRAMS_MAX || protection.isWorn();
        if (isDue || ((nowNs >= dueNs || isWorn) && !protection.isRekeying())) {
            protection.rekey(nowNs, switchNs, this::isMember);
            isDue = false;
            dueNs = everyNs > 0 ? nowNs + everyNs : Long.MAX_VALUE;
        }
    }
}
