package io.framecast.perf.streaming;

/// One measurement.
record StreamingCase(Contender contender, int subscribers, Direction direction) {
    /// `peak` with the link to itself, `streaming` beside other copies.
    String scenario() {
        return direction == Direction.NONE ? "peak" : "streaming";
    }

    StreamingCase alone() {
        return new StreamingCase(contender, subscribers, Direction.NONE);
    }

    String text() {
        return contender.text() + ", " + subscribers + (subscribers == 1 ? " subscriber, " : " subscribers, ")
                + (direction == Direction.NONE ? "peak" : "streaming " + direction.label());
    }
}
