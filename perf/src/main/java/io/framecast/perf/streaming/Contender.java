package io.framecast.perf.streaming;

/// One way of carrying frames that is measured: it has processes of its own.
///
/// @param scheme `framecast`, `ring`, `knomial` or `unicast`
/// @param placement asked for; the schemes over unicast have but one
/// @param radix k of a k-nomial tree; 0 for others
public record Contender(String scheme, String placement, int radix) {
    public static Contender framecast(final String placement) {
        return new Contender(Scheme.FRAMECAST, placement, 0);
    }

    /// One over unicast.
    ///
    /// @param scheme `ring` or `unicast`, or `knomial` or `knomial-K`
    /// @param radix where none is named
    public static Contender over(final String scheme, final int radix) {
        final int dash = scheme.indexOf('-');
        if (dash < 0) {
            return new Contender(scheme, Scheme.STAGED, scheme.equals(Scheme.KNOMIAL) ? radix : 0);
        }
        return new Contender(scheme.substring(0, dash), Scheme.STAGED, Integer.parseInt(scheme.substring(dash + 1)));
    }

    public boolean isFramecast() {
        return scheme.equals(Scheme.FRAMECAST);
    }

    public String text() {
        if (radix > 0) {
            return scheme + "-" + radix;
        }
        return isFramecast() && !placement.equals("auto") ? scheme + "/" + placement : scheme;
    }
}
