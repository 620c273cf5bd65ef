package io.framecast.engine.hostgroup;

import io.framecast.api.Channel;
import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.ByteLocks;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.PrivateDirectory;
import io.framecast.reliability.group.SegmentLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// A member's use of a device, which the other members of its host group can count: a lock on one byte of a file,
/// which the kernel takes back when the process ends, however it does. docs/host-segment.md says which byte.
///
/// Two members that choose at the same moment choose one after the other, so that both take an unused device where
/// there are two. Any thread.
public final class DeviceUse implements AutoCloseable {
    // Members of a group.
    private static final int PLACES = SegmentLayout.MEMBERS;
    private static final int HASH_BYTES = 5;
    private static final long CHOICE = 0;

    private final int descriptor;
    private final int index;
    private final int others;
    private boolean closed;

    private DeviceUse(final int descriptor, final int index, final int others) {
        this.descriptor = descriptor;
        this.index = index;
        this.others = others;
    }

    /// Takes the device that the fewest members of a channel's host group use; of several the first.
    ///
    /// @param devices their names: the PCI address, or kind and ordinal
    /// @throws TransportException when the group's directory is not this user's own
    public static DeviceUse take(final Channel channel, final List<String> devices) {
        final String group = HostGroups.name(channel, "", "");
        final int file = open(HostGroups.directory().resolve("devices"));
        try {
            if (!ByteLocks.await(file, CHOICE)) {
                throw new TransportException("host group: cannot lock " + HostGroups.directory()
                        + "/devices; name the device by device=cuda:N");
            }
            int chosen = 0;
            int fewest = Integer.MAX_VALUE;
            for (int i = 0; i < devices.size(); i++) {
                final int count = count(file, HostGroups.hash(group + '|' + devices.get(i), HASH_BYTES));
                if (count < fewest) {
                    fewest = count;
                    chosen = i;
                }
            }
            final long first = HostGroups.hash(group + '|' + devices.get(chosen), HASH_BYTES) * PLACES + 1;
            for (int place = 0; place < PLACES && !ByteLocks.lock(file, first + place); place++) {
                Thread.onSpinWait();
            }
            ByteLocks.unlock(file, CHOICE);
            return new DeviceUse(file, chosen, fewest);
        } catch (final RuntimeException | Error e) {
            Libc.close(file);
            throw e;
        }
    }

    /// Which of the devices it is.
    public int index() {
        return index;
    }

    /// Members that used it before.
    public int others() {
        return others;
    }

    /// Opens a file for locks, which is made where there is none.
    static int open(final Path path) {
        try (Arena arena = Arena.ofConfined()) {
            try {
                Files.createFile(path);
            } catch (final FileAlreadyExistsException _) {
                // Another member made it.
            }
            final int opened = Libc.open(arena.allocateFrom(path.toString()), Linux.O_RDWR | Linux.O_CLOEXEC);
            if (opened < 0) {
                throw new TransportException("host group: cannot open " + path + "; is it yours and writable?");
            }
            return opened;
        } catch (final IOException e) {
            throw new TransportException("host group: cannot make " + path + ": " + PrivateDirectory.reason(e)
                    + "; set XDG_RUNTIME_DIR to a directory of yours");
        }
    }

    private static int count(final int file, final long device) {
        int count = 0;
        for (int place = 0; place < PLACES; place++) {
            count += ByteLocks.isLocked(file, device * PLACES + 1 + place) ? 1 : 0;
        }
        return count;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            // Its lock ends with the last descriptor of the open file.
            Libc.close(descriptor);
        }
    }
}
