package io.framecast.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.PaddingLayout;
import java.lang.foreign.StructLayout;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Every offset, size and constant of the bindings, compared with what a C compiler makes of the header.
final class LayoutTest {
    private static final String HEADERS_PROPERTY = "framecast.verbs.headers";
    private static final String HEADERS_VARIABLE = "FRAMECAST_VERBS_HEADERS";

    @TempDir
    Path directory;

    @Test
    void shouldMatchTheInstalledHeader() throws IOException {
        CCompiler.assume();
        final Path headers = headers();
        Assumptions.assumeTrue(
                Files.exists(headers.resolve("infiniband/verbs.h")),
                "no infiniband/verbs.h below " + headers + "; install libibverbs-dev, or unpack it and set "
                        + HEADERS_VARIABLE + " to its include folder");
        assertEquals(expected(), printed("infiniband/verbs.h", headers));
    }

    @Test
    void shouldMatchTheInstalledHeaderOfTheConnectionManager() throws IOException {
        CCompiler.assume();
        final Path headers = headers();
        Assumptions.assumeTrue(
                Files.exists(headers.resolve("rdma/rdma_cma.h")),
                "no rdma/rdma_cma.h below " + headers + "; install librdmacm-dev, or unpack it and set "
                        + HEADERS_VARIABLE + " to its include folder");
        final StringBuilder program = new StringBuilder("#include <rdma/rdma_cma.h>\n#include <stdio.h>\n");
        program.append("#include <stddef.h>\n#define SIZE(s, m) sizeof(((struct s *)0)->m)\nint main(void) {\n");
        final StringBuilder expected = new StringBuilder();
        for (final StructLayout struct : CmLayouts.ALL) {
            for (final MemoryLayout member : struct.memberLayouts()) {
                if (member instanceof PaddingLayout) {
                    continue;
                }
                final MemoryLayout.PathElement element = MemoryLayout.PathElement.groupElement(name(member));
                expected.append("%s.%s %d %d\n"
                        .formatted(name(struct), name(member), struct.byteOffset(element), member.byteSize()));
                program.append("printf(\"%s.%s %%zu %%zu\\n\", offsetof(struct %1$s, %2$s), SIZE(%1$s, %2$s));\n"
                        .formatted(name(struct), name(member)));
            }
        }
        final String constants = "RDMA_PS_UDP, RDMA_CM_EVENT_MULTICAST_JOIN, RDMA_CM_EVENT_MULTICAST_ERROR";
        program.append("printf(\"%d %d %d\\n\", ").append(constants).append(");\nreturn 0; }\n");
        expected.append("%d %d %d\n"
                .formatted(
                        CmLayouts.RDMA_PS_UDP,
                        CmLayouts.RDMA_CM_EVENT_MULTICAST_JOIN,
                        CmLayouts.RDMA_CM_EVENT_MULTICAST_ERROR));
        final Path source = Files.writeString(directory.resolve("cm.c"), program);
        final Path binary = CCompiler.compile(directory.resolve("cm"), List.of("-I" + headers, source.toString()));
        assertEquals(expected.toString(), CCompiler.run(directory.resolve("cm.log"), List.of(binary.toString())));
    }

    @Test
    void shouldMatchTheStandIn() throws IOException {
        CCompiler.assume();
        CCompiler.extract(directory, "verbs_abi.h");
        assertEquals(expected(), printed("verbs_abi.h", directory));
    }

    @Test
    void shouldDifferWhenAMemberMoves() throws IOException {
        CCompiler.assume();
        final Path header = CCompiler.extract(directory, "verbs_abi.h");
        final String source = Files.readString(header);
        final String moved = source.replace("uint32_t length, lkey;", "uint32_t lkey, length;");
        assertTrue(!moved.equals(source));
        Files.writeString(header, moved);
        final List<String> expected = new ArrayList<>(expected().lines().toList());
        expected.removeAll(printed("verbs_abi.h", directory).lines().toList());
        assertEquals(List.of("ibv_sge.length 8 4", "ibv_sge.lkey 12 4"), expected);
    }

    private static Path headers() {
        return Path.of(System.getProperty(
                HEADERS_PROPERTY, Objects.requireNonNullElse(System.getenv(HEADERS_VARIABLE), "/usr/include")));
    }

    private static String expected() {
        final StringBuilder lines = new StringBuilder();
        members((struct, path) -> {
            final MemoryLayout.PathElement[] elements = Stream.of(path.split("\\."))
                    .map(MemoryLayout.PathElement::groupElement)
                    .toArray(MemoryLayout.PathElement[]::new);
            lines.append(name(struct)).append('.').append(path);
            lines.append(' ').append(struct.byteOffset(elements));
            lines.append(' ').append(struct.select(elements).byteSize()).append('\n');
        });
        VerbsLayouts.WHOLE.forEach(struct ->
                lines.append(name(struct)).append(' ').append(struct.byteSize()).append('\n'));
        constants((name, value) -> lines.append(name).append(' ').append(value).append('\n'));
        return lines.toString();
    }

    private String printed(final String header, final Path include) throws IOException {
        final StringBuilder program = new StringBuilder();
        program.append("#include <stdio.h>\n#include <stddef.h>\n#include <")
                .append(header)
                .append(">\n");
        program.append("#define SIZE(s, m) sizeof(((struct s *)0)->m)\nint main(void) {\n");
        members((struct, path) ->
                program.append("printf(\"%s.%s %%zu %%zu\\n\", offsetof(struct %1$s, %2$s), SIZE(%1$s, %2$s));\n"
                        .formatted(name(struct), path)));
        VerbsLayouts.WHOLE.forEach(
                struct -> program.append("printf(\"%s %%zu\\n\", sizeof(struct %1$s));\n".formatted(name(struct))));
        constants((name, _) -> program.append("printf(\"%s %%d\\n\", (int)%1$s);\n".formatted(name)));
        program.append("return 0; }\n");
        final Path source = Files.writeString(directory.resolve("layouts.c"), program);
        final Path binary = CCompiler.compile(directory.resolve("layouts"), List.of("-I" + include, source.toString()));
        return CCompiler.run(directory.resolve("layouts.log"), List.of(binary.toString()));
    }

    private static String name(final MemoryLayout struct) {
        return struct.name().orElseThrow();
    }

    private static void members(final BiConsumer<StructLayout, String> member) {
        Stream.concat(VerbsLayouts.WHOLE.stream(), VerbsLayouts.OPEN_ENDED.stream())
                .forEach(struct -> members(struct, struct, "", member));
    }

    private static void members(
            final StructLayout struct,
            final GroupLayout group,
            final String prefix,
            final BiConsumer<StructLayout, String> member) {
        for (final MemoryLayout layout : group.memberLayouts()) {
            if (layout instanceof PaddingLayout) {
                continue;
            }
            final String path = prefix + name(layout);
            member.accept(struct, path);
            final boolean isNamedInside = layout instanceof GroupLayout inner
                    && inner.memberLayouts().stream().anyMatch(m -> m.name().isPresent());
            if (isNamedInside) {
                members(struct, (GroupLayout) layout, path + ".", member);
            }
        }
    }

    private static void constants(final BiConsumer<String, Integer> constant) {
        for (final Field field : VerbsConstants.class.getDeclaredFields()) {
            if (field.getName().startsWith("IBV_")) {
                try {
                    constant.accept(field.getName(), field.getInt(null));
                } catch (final IllegalAccessException e) {
                    throw new AssertionError(e);
                }
            }
        }
    }
}
