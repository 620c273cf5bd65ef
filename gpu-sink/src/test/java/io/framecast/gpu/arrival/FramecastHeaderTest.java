package io.framecast.gpu.arrival;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.gpu.request.RequestLayout;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// `framecast.cuh` and the Java side agree, and the PTX is built from what lies here.
class FramecastHeaderTest {
    private static final Path MAIN = Path.of(System.getProperty("basedir", ".")).resolve("src/main");
    private static final Path HEADER = MAIN.resolve("resources/io/framecast/gpu/arrival/framecast.cuh");

    @Test
    void shouldHaveTheSameConstantsAsJava() throws IOException, IllegalAccessException {
        final Map<String, Integer> header = Pattern.compile("\\bFC_(\\w+) = (\\d+)")
                .matcher(Files.readString(HEADER))
                .results()
                .collect(Collectors.toMap(
                        (final MatchResult m) -> m.group(1),
                        (final MatchResult m) -> Integer.valueOf(m.group(2)),
                        (a, _) -> a,
                        TreeMap::new));
        final Map<String, Integer> java = new TreeMap<>();
        addConstants(ArrivalLayout.class, java);
        addConstants(RequestLayout.class, java);
        // The wildcard of tags is a macro, for it does not fit an enum.
        assertEquals(-1, java.remove("ANY_TAG"));
        assertTrue(Files.readString(HEADER).contains("#define FC_ANY_TAG 0xffffffffu"));
        assertEquals(java, header);
    }

    private static void addConstants(final Class<?> layout, final Map<String, Integer> into)
            throws IllegalAccessException {
        for (final Field field : layout.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.getType() == int.class) {
                field.setAccessible(true);
                into.put(field.getName(), field.getInt(null));
            }
        }
    }

    @Test
    void shouldShipThePtxOfItsSources() throws IOException {
        final String ptx = new String(ByteSumKernel.ptx(), StandardCharsets.UTF_8);
        assertTrue(ptx.contains("byte_sum.cu, sha256 " + sha256(MAIN.resolve("cuda/byte_sum.cu"))), "run build.sh");
        assertTrue(ptx.contains("framecast.cuh, sha256 " + sha256(HEADER)), "run build.sh");
        assertTrue(ptx.contains(".visible .entry framecast_byte_sum("));
        assertTrue(ptx.contains(".visible .entry framecast_byte_sum_once("));
        assertTrue(ptx.contains(".visible .entry framecast_request_frames("));
    }

    /// The memory orders of the protocol must reach the machine code: no compiler may weaken them.
    @Test
    void shouldAcquireEntriesAndReleaseReturns() {
        final String ptx = new String(ByteSumKernel.ptx(), StandardCharsets.UTF_8);
        final String body = ptx.substring(ptx.indexOf(".entry framecast_byte_sum("));
        final String persistent = body.substring(0, body.indexOf(".entry framecast_byte_sum_once("));
        assertTrue(persistent.contains("ld.acquire.sys.u64"));
        assertTrue(persistent.contains("st.release.sys.u32"));
        assertTrue(persistent.contains("atom.acq_rel.gpu.add.u32"));
    }

    private static String sha256(final Path file) throws IOException {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
        } catch (final NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
