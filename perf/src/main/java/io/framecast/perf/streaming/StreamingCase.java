package io.framecast.perf.streaming;

/// One setting that every contender is measured in.
public record StreamingCase(int subscribers, Direction direction, Impairment impairment) {
    /// Nothing lost, no receiver slow.
    public StreamingCase(final int subscribers, final Direction direction) {
        this(subscribers, direction, Impairment.NONE);
    }

    boolean isPeak() {
        return direction == Direction.NONE;
    }

    /// `peak` with the link to itself, `streaming` beside other copies.
    String scenario() {
        return isPeak() ? "peak" : "streaming";
    }

    StreamingCase alone() {
        return new StreamingCase(subscribers, Direction.NONE, impairment);
    }

    String text() {
        return subscribers
                + (subscribers == 1 ? " subscriber, " : " subscribers, ")
                + (isPeak() ? "peak" : "streaming " + direction.label())
                + impairment.text();
    }
}
