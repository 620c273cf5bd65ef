package io.framecast.perf.chaos;

import io.framecast.api.provider.PseudoFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/// Hosts on one switch, each of which loses datagrams of every lane, going out and coming in, and can be cut
/// off.
interface ChaosNetwork extends AutoCloseable {
    /// The publisher's host; subscriber `i` is on host `i + 1`.
    int SOURCE = 0;

    /// How a host is cut off.
    enum Cut {
        /// The switch's end of its cable goes down.
        LINK,
        /// All its datagrams are dropped.
        FILTER
    }

    /// The interface that a process on a host is to use.
    String device(int host);

    /// The command that runs another on a host, in the same process.
    List<String> within(int host);

    /// Takes the switch's end of a host's cable up or down.
    void plug(int host, boolean up) throws IOException;

    /// Loses a share of a host's datagrams from now on.
    void lose(int host, double share) throws IOException;

    /// Share of datagrams that a host loses unless it is cut off.
    double loss();

    /// Cuts a host off, or undoes that.
    default void cut(final int host, final Cut cut, final boolean off) throws IOException {
        switch (cut) {
            case LINK -> plug(host, !off);
            case FILTER -> lose(host, off ? 1 : loss());
        }
    }

    /// The file that says whether a host sees its cable.
    ///
    /// @param pid of a process on it
    Path carrier(int host, long pid);

    /// Whether a host sees its cable; also where that cannot be read.
    ///
    /// @param pid of a process on it
    default boolean hasCarrier(final int host, final long pid) {
        try {
            return PseudoFiles.read(carrier(host, pid)).startsWith("1");
        } catch (final IOException e) {
            return true;
        }
    }

    /// How many packets were lost on purpose.
    long dropped() throws IOException;

    /// The remains of this network; nothing after [#close].
    List<String> leftovers() throws IOException;

    @Override
    void close();
}
