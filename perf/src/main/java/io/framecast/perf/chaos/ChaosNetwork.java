package io.framecast.perf.chaos;

import java.io.IOException;
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

    /// Cuts a host off.
    default void cut(final int host, final Cut cut) throws IOException {
        switch (cut) {
            case LINK -> plug(host, false);
            case FILTER -> lose(host, 1);
        }
    }

    /// Undoes [#cut].
    default void restore(final int host, final Cut cut) throws IOException {
        switch (cut) {
            case LINK -> plug(host, true);
            case FILTER -> lose(host, loss());
        }
    }

    /// Whether a host sees its cable.
    ///
    /// @param pid of a process on it
    boolean hasCarrier(int host, long pid);

    /// How many packets were lost on purpose.
    long dropped() throws IOException;

    /// The remains of this network; nothing after [#close].
    List<String> leftovers() throws IOException;

    @Override
    void close();
}
