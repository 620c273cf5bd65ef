package io.framecast.perf.streaming;

/// One way of carrying frames that is measured: it has processes of its own.
///
/// @param scheme `framecast`, `ring`, `knomial` or `unicast`
/// @param placement asked for; the schemes over unicast have but one
/// @param radix k of a k-nomial tree; 0 for others
/// @param hops of a scheme over unicast: by `tcp`, or by writes over reliable connections of verbs, `rc`
public record Contender(String scheme, String placement, int radix, String hops) {
    static final String RC = "rc";

    private static final String TCP = "tcp";

    public static Contender framecast(final String placement) {
        return new Contender(Scheme.FRAMECAST, placement, 0, TCP);
    }

    /// One over unicast.
    ///
    /// @param scheme `ring` or `unicast`, or `knomial` or `knomial-K`; each perhaps with `:rc` behind it
    /// @param radix where none is named
    public static Contender over(final String scheme, final int radix) {
        final int colon = scheme.indexOf(':');
        final String hops = colon < 0 ? TCP : scheme.substring(colon + 1);
        final String shape = colon < 0 ? scheme : scheme.substring(0, colon);
        final int dash = shape.indexOf('-');
        if (dash < 0) {
            return new Contender(shape, Scheme.STAGED, shape.equals(Scheme.KNOMIAL) ? radix : 0, hops);
        }
        final int own = Integer.parseInt(shape.substring(dash + 1));
        return new Contender(shape.substring(0, dash), Scheme.STAGED, own, hops);
    }

    public boolean isFramecast() {
        return scheme.equals(Scheme.FRAMECAST);
    }

    boolean isOverRc() {
        return hops.equals(RC);
    }

    public String text() {
        if (!isFramecast()) {
            return scheme + (radix > 0 ? "-" + radix : "") + (isOverRc() ? ":" + RC : "");
        }
        return !placement.equals("auto") ? scheme + "/" + placement : scheme;
    }
}
