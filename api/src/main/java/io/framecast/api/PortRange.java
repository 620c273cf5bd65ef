package io.framecast.api;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// UDP ports, the last included; written `40000-40015`, or `40000` for one.
///
/// @param first 1024 … 65535; 0 with `last` 0 for whichever the system gives
/// @param last at least `first`
public record PortRange(int first, int last) {
    /// Whichever the system gives.
    public static final PortRange ANY = new PortRange(0, 0);

    private static final int PORT_MIN = 1024;
    private static final int PORT_MAX = 65_535;
    private static final Pattern TEXT = Pattern.compile("([0-9]{1,5})(?:-([0-9]{1,5}))?");

    public PortRange {
        if ((first != 0 || last != 0) && (first < PORT_MIN || last > PORT_MAX || last < first)) {
            throw new IllegalArgumentException("unicast-ports: expected a range within " + PORT_MIN + "-" + PORT_MAX
                    + " such as 40000-40015, got " + first + "-" + last);
        }
    }

    /// Reads what [#toString] writes, or `any`.
    static PortRange parse(final String text) {
        if (text.equals("any")) {
            return ANY;
        }
        final Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "unicast-ports: expected any or a range such as 40000-40015, got " + text);
        }
        final int first = Integer.parseInt(matcher.group(1));
        if (first == 0) {
            throw new IllegalArgumentException(
                    "unicast-ports: expected any or a range such as 40000-40015, got " + text);
        }
        return new PortRange(first, matcher.group(2) == null ? first : Integer.parseInt(matcher.group(2)));
    }

    public boolean isAny() {
        return first == 0;
    }

    @Override
    public String toString() {
        return isAny() ? "any" : first == last ? Integer.toString(first) : first + "-" + last;
    }
}
