package io.framecast.reliability.count;

import io.framecast.reliability.count.Metric.Unit;

/// How operators see a count of a machine. The constant of a machine's enum of counts carries it, and export goes
/// over the constants: a new counter is a new constant.
///
/// @param scope the sessions that export it
/// @param metric the metric that it is, or is a part of
/// @param reason the value of the metric's label `reason`; empty for a metric without that label
public record Export(Scope scope, Metric metric, String reason) {
    /// Read by tests and the simulator, not exported.
    public static final Export INTERNAL = new Export(Scope.INTERNAL, new Metric("", Unit.EVENTS, ""), "");

    /// The sessions that export a count.
    public enum Scope {
        /// No session.
        INTERNAL,
        /// Every session.
        SESSION,
        /// Sessions over a transport with one-sided operations.
        ONE_SIDED,
        /// The same; of a receiver's access to its co-root's memory.
        ONE_SIDED_CO_ROOT
    }

    /// A metric of every session.
    public static Export always(final String name, final Unit unit, final String help) {
        return always(new Metric(name, unit, help));
    }

    /// A metric of every session, which machines share.
    public static Export always(final Metric metric) {
        return new Export(Scope.SESSION, metric, "");
    }

    /// A metric of sessions with one-sided operations.
    public static Export oneSided(final String name, final Unit unit, final String help) {
        return new Export(Scope.ONE_SIDED, new Metric(name, unit, help), "");
    }

    /// One reason of [Metric#ONE_SIDED_FALLBACKS].
    public static Export fallback(final String reason) {
        return new Export(Scope.ONE_SIDED, Metric.ONE_SIDED_FALLBACKS, reason);
    }

    /// One reason of [Metric#ONE_SIDED_FALLBACKS], at a receiver with a co-root.
    public static Export coRootFallback(final String reason) {
        return new Export(Scope.ONE_SIDED_CO_ROOT, Metric.ONE_SIDED_FALLBACKS, reason);
    }
}
