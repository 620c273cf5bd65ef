package io.framecast.samples.network;

import io.framecast.api.provider.PseudoFiles;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Finds the programs and privileges that network namespaces need, without running a program.
public final class NamespaceNeeds {
    private static final Path STATUS = Path.of("/proc/self/status");

    /// A program, and Debian's package of it.
    public enum Tool {
        IP("ip", "iproute2"),
        TC("tc", "iproute2"),
        NFT("nft", "nftables"),
        ETHTOOL("ethtool", "ethtool");

        private final String program;
        private final String debianPackage;

        Tool(final String program, final String debianPackage) {
            this.program = program;
            this.debianPackage = debianPackage;
        }
    }

    private NamespaceNeeds() {}

    /// Names in one line the rights that this process lacks, and how to get them.
    ///
    /// @return empty when nothing is missing
    public static String missing(final Tool... tools) {
        return missing(Objects.requireNonNullElse(System.getenv("PATH"), ""), PseudoFiles.readOrEmpty(STATUS), tools);
    }

    /// @param status of the process, as in `/proc/self/status`; an empty one proves nothing
    static String missing(final String path, final String status, final Tool... tools) {
        final List<String> parts = new ArrayList<>();
        final List<Tool> absent =
                Stream.of(tools).filter(tool -> !isOn(path, tool.program)).toList();
        if (!absent.isEmpty()) {
            parts.add("no " + join(absent.stream().map(tool -> tool.program)) + " on the PATH: install "
                    + join(absent.stream().map(tool -> tool.debianPackage)));
        }
        final List<String> capabilities = lacking(status);
        if (!capabilities.isEmpty()) {
            parts.add("no " + join(capabilities.stream()) + ": run as root");
        }
        return String.join("; ", parts);
    }

    private static String join(final Stream<String> names) {
        return String.join(", ", names.distinct().toList());
    }

    private static boolean isOn(final String path, final String program) {
        return Stream.of(path.split(Pattern.quote(File.pathSeparator), -1))
                .filter(folder -> !folder.isEmpty())
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    private static List<String> lacking(final String status) {
        final Capabilities capabilities = Capabilities.of(status);
        final List<String> lacking = new ArrayList<>();
        if (capabilities.isKnown() && !capabilities.has(Capabilities.SYS_ADMIN)) {
            lacking.add("CAP_SYS_ADMIN");
        }
        if (capabilities.isKnown() && !capabilities.has(Capabilities.NET_ADMIN)) {
            lacking.add("CAP_NET_ADMIN");
        }
        return lacking;
    }
}
