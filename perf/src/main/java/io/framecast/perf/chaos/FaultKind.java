package io.framecast.perf.chaos;

/// The faults. A brief one is shorter than alive-timeout: every subscriber may notice a pause and no more. A
/// fatal one lasts for ever, or longer than alive-timeout: the sender must evict its target.
enum FaultKind {
    KILL_SUBSCRIBER("kill -9", Action.KILL, Target.SUBSCRIBER, true),
    KILL_CO_ROOT("kill -9", Action.KILL, Target.CO_ROOT, true),
    KILL_CO_ROOTS("kill -9 of all co-roots", Action.KILL, Target.CO_ROOT, true),
    STOP_SUBSCRIBER("SIGSTOP", Action.STOP, Target.SUBSCRIBER, false),
    STOP_CO_ROOT("SIGSTOP", Action.STOP, Target.CO_ROOT, false),
    STOP_SUBSCRIBER_LONG("SIGSTOP", Action.STOP, Target.SUBSCRIBER, true),
    STOP_CO_ROOT_LONG("SIGSTOP", Action.STOP, Target.CO_ROOT, true),
    CUT_SUBSCRIBER("link cut", Action.CUT, Target.SUBSCRIBER, false),
    CUT_CO_ROOT("link cut", Action.CUT, Target.CO_ROOT, false),
    CUT_SUBSCRIBER_LONG("link cut", Action.CUT, Target.SUBSCRIBER, true),
    CUT_CO_ROOT_LONG("link cut", Action.CUT, Target.CO_ROOT, true),
    GARBAGE("garbage", Action.ATTACK, Target.EVERYBODY, false),
    KILL_LEADER("kill -9", Action.KILL, Target.LEADER, true),
    STOP_LEADER("SIGSTOP", Action.STOP, Target.LEADER, false),
    STOP_LEADER_LONG("SIGSTOP", Action.STOP, Target.LEADER, false),
    SLOW_LEADER("slowed", Action.SLOW, Target.LEADER, false),
    KILL_FOLLOWER("kill -9 while it holds frames", Action.KILL, Target.FOLLOWER, true),
    // Its socket and its lock file stay, and the next ones find them.
    KILL_HOST("kill -9 of all of a host", Action.KILL, Target.HOST, true);

    private final String text;
    private final Action action;
    private final Target target;
    private final boolean fatal;

    FaultKind(final String text, final Action action, final Target target, final boolean fatal) {
        this.text = text;
        this.action = action;
        this.target = target;
        this.fatal = fatal;
    }

    enum Action {
        KILL,
        STOP,
        SLOW,
        CUT,
        ATTACK
    }

    enum Target {
        SUBSCRIBER,
        CO_ROOT,
        EVERYBODY,
        LEADER,
        FOLLOWER,
        HOST
    }

    Target target() {
        return target;
    }

    String text() {
        return text;
    }

    Action action() {
        return action;
    }

    boolean isOfCoRoot() {
        return target == Target.CO_ROOT;
    }

    /// Whether it is of a host whose subscribers are a group.
    boolean isOfGroup() {
        return target == Target.LEADER || target == Target.FOLLOWER || target == Target.HOST;
    }

    /// How many members the source evicts for it: of a host group it knows one, which goes on while any of it lives.
    ///
    /// @param victims how many processes end by it
    int evictions(final int victims) {
        return !fatal || target == Target.LEADER || target == Target.FOLLOWER ? 0 : target == Target.HOST ? 1 : victims;
    }

    /// Whether it lasts longer than alive-timeout.
    boolean isLong() {
        return fatal || this == STOP_LEADER_LONG;
    }

    boolean isOfEverybody() {
        return target == Target.EVERYBODY;
    }

    boolean isFatal() {
        return fatal;
    }

    boolean isKill() {
        return action == Action.KILL;
    }
}
