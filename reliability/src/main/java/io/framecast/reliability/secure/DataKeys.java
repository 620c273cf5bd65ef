package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.SecretBytes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The keys of a session's data, by epoch: at a source the current epoch and the one before, at a receiver all that it
/// takes. The protection owns and wipes them, so a user compares [#version] and makes its ciphers anew.
///
/// One thread: the protection's.
public final class DataKeys {
    private final List<EpochKeys> epochs = new ArrayList<>();
    private int epoch;
    private long version;

    DataKeys() {}

    /// Keys that open nothing.
    public static DataKeys none() {
        return new DataKeys();
    }

    List<EpochKeys> epochs() {
        return epochs;
    }

    void change(final int current) {
        epoch = current;
        version++;
    }

    /// Counts the changes: of the current epoch, and of the epochs that have a key.
    public long version() {
        return version;
    }

    /// The epoch that the source seals under, as far as this end knows; never 0.
    public int epoch() {
        return epoch;
    }

    /// Number of epochs that have a key.
    public int count() {
        return epochs.size();
    }

    /// One of the epochs that have a key, oldest first.
    ///
    /// @param index below [#count]
    public int epochAt(final int index) {
        return epochs.get(index).epoch();
    }

    /// The key of an epoch, valid until [#version] changes.
    ///
    /// @return null where there is none, or none any more
    public @Nullable SecretBytes key(final int ofEpoch) {
        for (int i = 0; i < epochs.size(); i++) {
            if (epochs.get(i).epoch() == ofEpoch) {
                return epochs.get(i).dataKey();
            }
        }
        return null;
    }

    /// True when a datagram of this sequence may have been sealed under an epoch that has a key. Evicted members have
    /// the keys of earlier epochs, so no datagram beyond the end of an epoch counts under its key.
    public boolean isWithin(final int ofEpoch, final long sequence) {
        for (int i = 0; i < epochs.size(); i++) {
            if (epochs.get(i).epoch() == ofEpoch) {
                return sequence < epochs.get(i).dataEnd();
            }
        }
        return false;
    }

    /// A datagram of the data was opened: earlier epochs end before it.
    void onOpened(final int ofEpoch, final long sequence) {
        for (int i = 0; i < epochs.size(); i++) {
            if (epochs.get(i).epoch() - ofEpoch < 0) {
                epochs.get(i).endDataAt(sequence);
            }
        }
    }

    void close() {
        epochs.forEach(EpochKeys::close);
        epochs.clear();
        version++;
    }
}
