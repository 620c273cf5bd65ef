package io.framecast.perf.chaos;

/// What can be done to a run, and what must come of it.
enum FaultKind {
    KILL_SUBSCRIBER("kill -9", Target.SUBSCRIBER, Length.FATAL),
    KILL_CO_ROOT("kill -9", Target.CO_ROOT, Length.FATAL),
    KILL_CO_ROOTS("kill -9 of all co-roots", Target.CO_ROOT, Length.FATAL),
    STOP_SUBSCRIBER("SIGSTOP", Target.SUBSCRIBER, Length.BRIEF),
    STOP_CO_ROOT("SIGSTOP", Target.CO_ROOT, Length.BRIEF),
    STOP_SUBSCRIBER_LONG("SIGSTOP", Target.SUBSCRIBER, Length.FATAL),
    STOP_CO_ROOT_LONG("SIGSTOP", Target.CO_ROOT, Length.FATAL),
    CUT_SUBSCRIBER("link cut", Target.SUBSCRIBER, Length.BRIEF),
    CUT_CO_ROOT("link cut", Target.CO_ROOT, Length.BRIEF),
    CUT_SUBSCRIBER_LONG("link cut", Target.SUBSCRIBER, Length.FATAL),
    CUT_CO_ROOT_LONG("link cut", Target.CO_ROOT, Length.FATAL),
    GARBAGE("garbage", Target.EVERYBODY, Length.BRIEF);

    private final String text;
    private final Target target;
    private final Length length;

    FaultKind(final String text, final Target target, final Length length) {
        this.text = text;
        this.target = target;
        this.length = length;
    }

    /// Whom it is done to.
    enum Target {
        SUBSCRIBER,
        CO_ROOT,
        EVERYBODY
    }

    /// For how long.
    enum Length {
        /// Less than alive-timeout: nobody may notice more than a pause.
        BRIEF,
        /// For ever, or for longer than alive-timeout: its target must be evicted.
        FATAL
    }

    String text() {
        return text;
    }

    boolean isOfCoRoot() {
        return target == Target.CO_ROOT;
    }

    boolean isOfEverybody() {
        return target == Target.EVERYBODY;
    }

    boolean isFatal() {
        return length == Length.FATAL;
    }

    /// Whether all co-roots there are get it at once.
    boolean isOfAllCoRoots() {
        return this == KILL_CO_ROOTS;
    }

    boolean isKill() {
        return this == KILL_SUBSCRIBER || this == KILL_CO_ROOT || isOfAllCoRoots();
    }

    boolean isStop() {
        return switch (this) {
            case STOP_SUBSCRIBER, STOP_CO_ROOT, STOP_SUBSCRIBER_LONG, STOP_CO_ROOT_LONG -> true;
            case KILL_SUBSCRIBER,
                    KILL_CO_ROOT,
                    KILL_CO_ROOTS,
                    CUT_SUBSCRIBER,
                    CUT_CO_ROOT,
                    CUT_SUBSCRIBER_LONG,
                    CUT_CO_ROOT_LONG,
                    GARBAGE -> false;
        };
    }
}
