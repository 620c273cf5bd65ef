package io.framecast.perf.streaming;

import io.framecast.perf.harness.BackgroundLoad.Load;
import java.util.Locale;

/// Which way background copies go.
public enum Direction {
    /// There are none: what a scheme carries at its peak.
    NONE("nothing", Load.NONE, Load.NONE),
    /// From host to device, at the source and at every receiver.
    H2D("copies to the device", Load.TO_DEVICE, Load.TO_DEVICE),
    /// From device to host, everywhere.
    D2H("copies to the host", Load.TO_HOST, Load.TO_HOST),
    /// Both ways, everywhere.
    BOTH("copies both ways", Load.BOTH, Load.BOTH),
    /// As in Chu et al. 2019, §7.2: to the device at the source, to the host at the receivers.
    PAPER("copies to the source's device and from the receivers'", Load.TO_DEVICE, Load.TO_HOST);

    private final String words;
    private final Load atSource;
    private final Load atReceiver;

    Direction(final String words, final Load atSource, final Load atReceiver) {
        this.words = words;
        this.atSource = atSource;
        this.atReceiver = atReceiver;
    }

    Load atSource() {
        return atSource;
    }

    Load atReceiver() {
        return atReceiver;
    }

    /// For a title.
    String words() {
        return words;
    }

    /// As users write it.
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// The one with a label that the command line has checked.
    static Direction of(final String label) {
        return valueOf(label.toUpperCase(Locale.ROOT));
    }
}
