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
    GARBAGE("garbage", Action.ATTACK, Target.EVERYBODY, false);

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
        CUT,
        ATTACK
    }

    enum Target {
        SUBSCRIBER,
        CO_ROOT,
        EVERYBODY
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
