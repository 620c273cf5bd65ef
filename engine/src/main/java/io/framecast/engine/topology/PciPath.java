package io.framecast.engine.topology;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A PCI function and the bridges between it and the host.
///
/// @param elements the host bridge (`pci0000:3a`), the bridges from the root port down, and the function itself
/// @param node its NUMA node, or [NumaNode#UNKNOWN]
public record PciPath(List<String> elements, int node) {
    private static final Pattern HOST_BRIDGE = Pattern.compile("pci[0-9a-f]{4,8}:[0-9a-f]{2}");
    private static final Pattern FUNCTION = Pattern.compile("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
    // CUDA writes the domain with 4 or 8 digits, in capitals.
    private static final Pattern ADDRESS =
            Pattern.compile("0{0,4}([0-9a-f]{4,8}):([0-9a-f]{2}):([0-9a-f]{2})(\\.[0-7])?");

    public PciPath {
        elements = List.copyOf(elements);
    }

    /// The path to the last PCI function that a directory of sysfs lies in, of no known node.
    ///
    /// @param directory without symbolic links
    /// @return null when it lies in none
    static @Nullable PciPath of(final Path directory) {
        final List<String> elements = new ArrayList<>();
        for (final Path part : directory) {
            final String name = part.toString();
            if (elements.isEmpty()
                    ? HOST_BRIDGE.matcher(name).matches()
                    : FUNCTION.matcher(name).matches()) {
                elements.add(name);
            }
        }
        return elements.size() < 2 ? null : new PciPath(elements, NumaNode.UNKNOWN);
    }

    /// An address as sysfs writes it.
    ///
    /// @return null when it is none
    public static @Nullable String address(final String text) {
        final Matcher matcher = ADDRESS.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            return null;
        }
        final String function = matcher.group(4);
        return matcher.group(1) + ":" + matcher.group(2) + ":" + matcher.group(3)
                + (function == null ? ".0" : function);
    }

    /// The function's own address, such as `0000:3b:00.0`.
    public String address() {
        return elements.getLast();
    }

    int depth() {
        return elements.size();
    }

    String element(final int index) {
        return elements.get(index);
    }
}
