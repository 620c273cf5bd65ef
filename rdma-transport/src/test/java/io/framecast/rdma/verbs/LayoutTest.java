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
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Every offset, size and constant of the bindings, compared with what a C compiler makes of the header.
final class LayoutTest {
    private static final String HEADERS_PROPERTY = "framecast.verbs.headers";
    private static final String HEADERS_VARIABLE = "FRAMECAST_VERBS_HEADERS";

    private static final List<String> EXTENSION_MEMBERS = List.of("create_qp_ex", "sz");

    // Enums whose ordinals cross the border.
    private static final List<String> PORT_STATES = List.of(
            "IBV_PORT_NOP",
            "IBV_PORT_DOWN",
            "IBV_PORT_INIT",
            "IBV_PORT_ARMED",
            "IBV_PORT_ACTIVE",
            "IBV_PORT_ACTIVE_DEFER");
    private static final List<String> GID_TYPES =
            List.of("IBV_GID_TYPE_IB", "IBV_GID_TYPE_ROCE_V1", "IBV_GID_TYPE_ROCE_V2");
    private static final List<String> STATES = List.of(
            "IBV_QPS_RESET", "IBV_QPS_INIT", "IBV_QPS_RTR", "IBV_QPS_RTS", "IBV_QPS_SQD", "IBV_QPS_SQE", "IBV_QPS_ERR");
    private static final List<String> EVENTS = List.of(
            "IBV_EVENT_CQ_ERR",
            "IBV_EVENT_QP_FATAL",
            "IBV_EVENT_QP_REQ_ERR",
            "IBV_EVENT_QP_ACCESS_ERR",
            "IBV_EVENT_COMM_EST",
            "IBV_EVENT_SQ_DRAINED",
            "IBV_EVENT_PATH_MIG",
            "IBV_EVENT_PATH_MIG_ERR",
            "IBV_EVENT_DEVICE_FATAL",
            "IBV_EVENT_PORT_ACTIVE",
            "IBV_EVENT_PORT_ERR",
            "IBV_EVENT_LID_CHANGE",
            "IBV_EVENT_PKEY_CHANGE",
            "IBV_EVENT_SM_CHANGE",
            "IBV_EVENT_SRQ_ERR",
            "IBV_EVENT_SRQ_LIMIT_REACHED",
            "IBV_EVENT_QP_LAST_WQE_REACHED",
            "IBV_EVENT_CLIENT_REREGISTER",
            "IBV_EVENT_GID_CHANGE",
            "IBV_EVENT_WQ_FATAL");

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
        final Map<String, Integer> constants = Map.of(
                "RDMA_PS_UDP", CmLayouts.RDMA_PS_UDP,
                "RDMA_CM_EVENT_MULTICAST_JOIN", CmLayouts.RDMA_CM_EVENT_MULTICAST_JOIN,
                "RDMA_CM_EVENT_MULTICAST_ERROR", CmLayouts.RDMA_CM_EVENT_MULTICAST_ERROR);
        assertMatches(
                List.of("-I" + headers),
                List.of("rdma/rdma_cma.h", "stdio.h", "stddef.h"),
                CmLayouts.ALL,
                new TreeMap<>(constants));
    }

    /// Of the C library, whose headers come with a compiler.
    @Test
    void shouldMatchTheHeadersOfTheSystem() throws IOException {
        CCompiler.assume();
        final Map<String, Integer> constants = new TreeMap<>(Map.of(
                "AF_INET", CmLayouts.AF_INET,
                "AF_INET6", CmLayouts.AF_INET6,
                "F_GETFL", DescriptorMode.F_GETFL,
                "F_SETFL", DescriptorMode.F_SETFL,
                "O_NONBLOCK", DescriptorMode.O_NONBLOCK));
        constants(VerbsErrors.class, "E", constants::put);
        assertTrue(constants.containsKey("ENODATA"));
        assertMatches(
                List.of(),
                List.of("netinet/in.h", "sys/socket.h", "fcntl.h", "errno.h", "stdio.h", "stddef.h"),
                CmLayouts.SOCKETS,
                constants);
    }

    private void assertMatches(
            final List<String> options,
            final List<String> includes,
            final List<StructLayout> structs,
            final Map<String, Integer> constants)
            throws IOException {
        final StringBuilder program = new StringBuilder();
        final StringBuilder expected = new StringBuilder();
        includes.forEach(include -> program.append("#include <").append(include).append(">\n"));
        program.append("#define SIZE(s, m) sizeof(((struct s *)0)->m)\nint main(void) {\n");
        for (final StructLayout struct : structs) {
            expected.append("%s %d\n".formatted(name(struct), struct.byteSize()));
            program.append("printf(\"%s %%zu\\n\", sizeof(struct %1$s));\n".formatted(name(struct)));
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
        constants.forEach((name, value) -> {
            expected.append("%s %d\n".formatted(name, value));
            program.append("printf(\"%s %%d\\n\", (int)%1$s);\n".formatted(name));
        });
        program.append("return 0; }\n");
        final Path source = Files.writeString(directory.resolve("structs.c"), program);
        final List<String> arguments = new ArrayList<>(options);
        arguments.add(source.toString());
        final Path binary = CCompiler.compile(directory.resolve("structs"), arguments);
        assertEquals(expected.toString(), CCompiler.run(directory.resolve("structs.log"), List.of(binary.toString())));
    }

    @Test
    void shouldOrderEnumsAsTheHeaderDoes() {
        assertEquals(PORT_STATES.size(), PortAttributes.State.UNKNOWN.ordinal());
        assertEquals("[NOP, DOWN, INIT, ARMED, ACTIVE, ACTIVE_DEFER, UNKNOWN]", named(PortAttributes.State.values()));
        assertEquals(STATES.size(), QueuePair.State.UNKNOWN.ordinal());
        assertEquals("[RESET, INIT, RTR, RTS, SQD, SQE, ERROR, UNKNOWN]", named(QueuePair.State.values()));
        assertEquals(EVENTS.size(), AsyncEvent.Kind.UNKNOWN.ordinal());
        assertEquals(
                "[CQ_ERROR, QP_FATAL, QP_REQUEST_ERROR, QP_ACCESS_ERROR, COMMUNICATION_ESTABLISHED, SQ_DRAINED,"
                        + " PATH_MIGRATED, PATH_MIGRATION_ERROR, DEVICE_FATAL, PORT_ACTIVE, PORT_ERROR, LID_CHANGE,"
                        + " PKEY_CHANGE, SUBNET_MANAGER_CHANGE, SRQ_ERROR, SRQ_LIMIT_REACHED, QP_LAST_REQUEST_REACHED,"
                        + " CLIENT_REREGISTER, GID_CHANGE, WQ_FATAL, UNKNOWN]",
                named(AsyncEvent.Kind.values()));
    }

    private static String named(final Enum<?>[] values) {
        return List.of(values).toString();
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
        final StructLayout extension = VerbsLayouts.CONTEXT_EXTENSION;
        for (final String member : EXTENSION_MEMBERS) {
            lines.append(member).append(' ');
            lines.append(extension.byteSize() - VerbsLayouts.offset(extension, member))
                    .append('\n');
        }
        lines.append(VerbsLayouts.VERBS_ABI_IS_EXTENDED).append('\n');
        verbsConstants(
                (name, value) -> lines.append(name).append(' ').append(value).append('\n'));
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
        final String before = "offsetof(struct verbs_context, context) - offsetof(struct verbs_context, ";
        EXTENSION_MEMBERS.forEach(
                member -> program.append("printf(\"%s %%zu\\n\", %s%1$s));\n".formatted(member, before)));
        program.append("printf(\"%ld\\n\", (long)__VERBS_ABI_IS_EXTENDED);\n");
        verbsConstants((name, _) -> program.append("printf(\"%s %%d\\n\", (int)%1$s);\n".formatted(name)));
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

    private static void verbsConstants(final BiConsumer<String, Integer> constant) {
        constants(VerbsConstants.class, "IBV_", constant);
        for (final List<String> order : List.of(PORT_STATES, GID_TYPES, STATES, EVENTS)) {
            order.forEach(name -> constant.accept(name, order.indexOf(name)));
        }
    }

    private static void constants(
            final Class<?> from, final String prefix, final BiConsumer<String, Integer> constant) {
        for (final Field field : from.getDeclaredFields()) {
            if (field.getName().startsWith(prefix)) {
                try {
                    constant.accept(field.getName(), field.getInt(null));
                } catch (final IllegalAccessException e) {
                    throw new AssertionError(e);
                }
            }
        }
    }
}
