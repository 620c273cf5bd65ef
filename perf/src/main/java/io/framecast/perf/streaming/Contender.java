package io.framecast.perf.streaming;

/// One way of carrying frames that is measured: it has processes of its own.
///
/// @param scheme `framecast`, `ring`, `knomial`
/// @param placement asked for; the schemes over unicast have but one
record Contender(String scheme, String placement) {
    boolean isFramecast() {
        return scheme.equals(Scheme.FRAMECAST);
    }

    String text() {
        return isFramecast() && !placement.equals("auto") ? scheme + "/" + placement : scheme;
    }
}
