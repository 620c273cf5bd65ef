package io.framecast.perf.streaming;

import io.framecast.api.error.ConfigException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// Which way background copies go.
enum Direction {
    /// There are none: what a scheme carries at its peak.
    NONE(false, false, false, false),
    /// From host to device, at the source and at every receiver.
    H2D(true, false, true, false),
    /// From device to host, everywhere.
    D2H(false, true, false, true),
    /// Both ways, everywhere.
    BOTH(true, true, true, true),
    /// As in Chu et al. 2019, §7.2: to the device at the source, to the host at the receivers.
    PAPER(true, false, false, true);

    /// The copies of one process in the background.
    record Load(boolean toDevice, boolean toHost) {
        boolean isAny() {
            return toDevice || toHost;
        }
    }

    private final boolean sourceToDevice;
    private final boolean sourceToHost;
    private final boolean receiverToDevice;
    private final boolean receiverToHost;

    Direction(
            final boolean sourceToDevice,
            final boolean sourceToHost,
            final boolean receiverToDevice,
            final boolean receiverToHost) {
        this.sourceToDevice = sourceToDevice;
        this.sourceToHost = sourceToHost;
        this.receiverToDevice = receiverToDevice;
        this.receiverToHost = receiverToHost;
    }

    Load atSource() {
        return new Load(sourceToDevice, sourceToHost);
    }

    Load atReceiver() {
        return new Load(receiverToDevice, receiverToHost);
    }

    /// For a title.
    String words() {
        return switch (this) {
            case NONE -> "nothing";
            case H2D -> "copies to the device";
            case D2H -> "copies to the host";
            case BOTH -> "copies both ways";
            case PAPER -> "copies to the source's device and from the receivers'";
        };
    }

    /// As users write it.
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// @throws ConfigException naming option, expectation and value
    static Direction parse(final String option, final String text) {
        final List<String> known = Arrays.stream(values())
                .filter(value -> value != NONE)
                .map(Direction::label)
                .toList();
        if (!known.contains(text)) {
            throw new ConfigException(option + ": expected " + String.join(", ", known) + " or none, got " + text);
        }
        return valueOf(text.toUpperCase(Locale.ROOT));
    }
}
