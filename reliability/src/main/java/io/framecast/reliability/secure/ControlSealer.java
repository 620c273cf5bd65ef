package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.Aead;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;

/// Turns plain control datagrams into sealed ones and back, in place.
///
/// ```
///  0 header (40), associated data, with 0 for the checksum   40 body, encrypted   [sender's id u64]   tag (16)
/// ```
///
/// A heartbeat to the group is associated data as a whole: newcomers read the source's address in it. The checksum
/// is that of the sealed datagram, so that noise is dropped before a key is used.
///
/// One thread. Nothing is allocated.
final class ControlSealer {
    static final int TAG_ONLY = Aead.TAG_BYTES;
    /// A tag behind the sender's id.
    static final int TAG_AND_SENDER = Long.BYTES + Aead.TAG_BYTES;

    private final HeaderChecksum checksum = new HeaderChecksum();
    private final Counts<ProtectionEvent> counts;

    ControlSealer(final Counts<ProtectionEvent> counts) {
        this.counts = counts;
    }

    int count(final ProtectionEvent event) {
        counts.add(event);
        return 0;
    }

    /// Checks the fields that any control datagram has, and the checksum. A datagram that is not good was counted.
    boolean isSound(final MemorySegment memory, final long offset, final int bytes) {
        if (ControlLayout.checkSealed(memory, offset, bytes, checksum) == Verdict.GOOD) {
            final int trailer = ControlLayout.TAG_BYTES.get(memory, offset);
            if (trailer == 0
                    || ((trailer == TAG_ONLY || trailer == TAG_AND_SENDER)
                            && bytes >= ControlLayout.LENGTH + trailer)) {
                return true;
            }
        }
        count(ProtectionEvent.MALFORMED);
        return false;
    }

    /// The sender's id of a sound datagram that carries one.
    static long sender(final MemorySegment memory, final long offset, final int bytes) {
        return Wire.getLong(memory, offset + bytes - TAG_AND_SENDER);
    }

    // Bytes in front of the part that is encrypted.
    private static int openBytes(final MemorySegment memory, final long offset, final int bodyEnd) {
        final boolean announces = ControlLayout.type(memory, offset) == ControlLayout.TYPE_HEARTBEAT
                && ControlLayout.RECEIVER.get(memory, offset) == 0;
        return announces ? bodyEnd : ControlLayout.LENGTH;
    }

    /// Seals a datagram at the beginning of a segment.
    ///
    /// @param keyEpoch of the group's keys; 0 for a pair's
    /// @return its new length; 0 where it does not fit, or the key was used too often
    int seal(final ControlKey key, final int keyEpoch, final MemorySegment datagram, final int bytes) {
        return seal(key, keyEpoch, datagram, bytes, TAG_ONLY, 0);
    }

    /// As [#seal], with the sender's id in front of the tag.
    int sealWithSender(
            final ControlKey key,
            final int keyEpoch,
            final MemorySegment datagram,
            final int bytes,
            final long senderId) {
        return seal(key, keyEpoch, datagram, bytes, TAG_AND_SENDER, senderId);
    }

    private int seal(
            final ControlKey key,
            final int keyEpoch,
            final MemorySegment datagram,
            final int bytes,
            final int trailer,
            final long senderId) {
        // SOLICIT has the longest length, and zeros at its end.
        final boolean isPadded =
                bytes == Wire.CONTROL_BYTES_MAX && ControlLayout.type(datagram, 0) == ControlLayout.TYPE_SOLICIT;
        final int bodyEnd = isPadded ? bytes - trailer : bytes;
        final int sealedBytes = bodyEnd + trailer;
        if (bytes < ControlLayout.LENGTH || sealedBytes > Math.min(Wire.CONTROL_BYTES_MAX, datagram.byteSize())) {
            return count(ProtectionEvent.MALFORMED);
        }
        final long counter = key.nextCounter();
        if (counter == 0) {
            return count(ProtectionEvent.EXHAUSTED);
        }
        ControlLayout.DATAGRAM_BYTES.set(datagram, 0, sealedBytes);
        ControlLayout.TAG_BYTES.set(datagram, 0, trailer);
        ControlLayout.KEY_EPOCH.set(datagram, 0, keyEpoch);
        ControlLayout.COUNTER.set(datagram, 0, counter);
        ControlLayout.CHECKSUM.set(datagram, 0, 0);
        if (trailer == TAG_AND_SENDER) {
            Wire.setLong(datagram, bodyEnd, senderId);
        }
        final int open = openBytes(datagram, 0, bodyEnd);
        key.aead()
                .seal(
                        key.nonce().lane(),
                        counter,
                        datagram,
                        0,
                        open,
                        bodyEnd - open,
                        sealedBytes - (long) Aead.TAG_BYTES);
        ControlLayout.CHECKSUM.set(datagram, 0, checksum.ofControl(datagram, 0, sealedBytes));
        counts.add(ProtectionEvent.SEALED);
        return sealedBytes;
    }

    /// Opens a sound datagram that is sealed. One that is not opened was counted, and its body is garbage.
    ///
    /// @return its new length, or 0
    int open(final ControlKey key, final MemorySegment memory, final long offset, final int bytes, final long nowNs) {
        final long counter = ControlLayout.COUNTER.get(memory, offset);
        if (!key.window().isNew(counter)) {
            return count(ProtectionEvent.REPLAYED);
        }
        final int trailer = ControlLayout.TAG_BYTES.get(memory, offset);
        final int bodyEnd = bytes - trailer;
        final int open = openBytes(memory, offset, bodyEnd);
        ControlLayout.CHECKSUM.set(memory, offset, 0);
        if (!key.aead()
                .open(
                        key.nonce().lane(),
                        counter,
                        memory,
                        offset,
                        open,
                        bodyEnd - open,
                        offset + bytes - Aead.TAG_BYTES)) {
            return count(ProtectionEvent.BAD_TAG);
        }
        key.window().accept(counter);
        key.use(nowNs);
        counts.add(ProtectionEvent.OPENED);
        return restore(memory, offset, bytes, bodyEnd);
    }

    private int restore(final MemorySegment memory, final long offset, final int bytes, final int bodyEnd) {
        int plainBytes = bodyEnd;
        if (bytes == Wire.CONTROL_BYTES_MAX && ControlLayout.type(memory, offset) == ControlLayout.TYPE_SOLICIT) {
            Wire.zero(memory, offset + bodyEnd, bytes - bodyEnd);
            plainBytes = bytes;
        }
        ControlLayout.DATAGRAM_BYTES.set(memory, offset, plainBytes);
        ControlLayout.TAG_BYTES.set(memory, offset, 0);
        ControlLayout.KEY_EPOCH.set(memory, offset, 0);
        ControlLayout.CHECKSUM.set(memory, offset, checksum.ofControl(memory, offset, plainBytes));
        return plainBytes;
    }

    /// Writes length and checksum of a datagram that is not sealed, or whose own parts are.
    int complete(final MemorySegment datagram, final int bytes) {
        ControlLayout.DATAGRAM_BYTES.set(datagram, 0, bytes);
        ControlLayout.CHECKSUM.set(datagram, 0, checksum.ofControl(datagram, 0, bytes));
        return bytes;
    }
}
