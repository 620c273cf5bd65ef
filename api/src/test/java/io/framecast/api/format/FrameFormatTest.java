package io.framecast.api.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class FrameFormatTest {
    @ParameterizedTest
    @CsvSource({
        "uint8, 1, 8, 1, 1",
        "int16, 0, 16, 1, 2",
        "float32, 2, 32, 1, 4",
        "bfloat16, 4, 16, 1, 2",
        "complex64, 5, 64, 1, 8",
        "bool, 6, 8, 1, 1",
        "float32x4, 2, 32, 4, 16",
        "uint4, 1, 4, 1, 1",
    })
    void shouldReadTheNamesOfTypes(
            final String name, final int code, final int bits, final int lanes, final int bytes) {
        final ElementType type = ElementType.parse(name);
        assertEquals(new ElementType(ElementType.Kind.of(code), bits, lanes), type);
        assertEquals(bytes, type.bytes());
        assertEquals(name, type.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "float", "uint0", "uint256", "double", "uint8x0", "uint8 ", "uint8x65536", "UINT8"})
    void shouldRefuseOtherNamesInOneLine(final String name) {
        final String said = String.valueOf(assertThrows(IllegalArgumentException.class, () -> ElementType.parse(name))
                .getMessage());
        assertTrue(said.startsWith("element type: expected "), said);
    }

    @Test
    void shouldCountTheBytesOfATensor() {
        assertEquals(4, Tensor.of(ElementType.FLOAT32).bytes());
        assertEquals(
                3 * 224 * 224 * 4, Tensor.of(ElementType.FLOAT32, 3, 224, 224).bytes());
        assertEquals(
                (2 * 640 + 639 + 1) * 2, new Tensor(ElementType.UINT16, List.of(3L, 640L), List.of(640L, 1L)).bytes());
        assertEquals(1, new Tensor(ElementType.UINT8, List.of(7L, 5L), List.of(0L, 0L)).bytes());
    }

    @Test
    void shouldRefuseTensorsThatCannotBe() {
        final List<Long> tooMany = List.of(1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L);
        assertThrows(IllegalArgumentException.class, () -> new Tensor(ElementType.UINT8, tooMany, List.of()));
        assertThrows(IllegalArgumentException.class, () -> Tensor.of(ElementType.UINT8, 0));
        assertThrows(IllegalArgumentException.class, () -> new Tensor(ElementType.UINT8, List.of(2L), List.of(1L, 1L)));
        assertThrows(
                IllegalArgumentException.class,
                () -> Tensor.of(ElementType.FLOAT64, Long.MAX_VALUE / 2, Long.MAX_VALUE / 2));
    }

    @ParameterizedTest
    @EnumSource(PixelFormat.class)
    void shouldLayPlanesWithinTheFrame(final PixelFormat pixels) {
        for (final int[] size : new int[][] {{1, 1}, {2, 2}, {639, 479}, {1920, 1080}}) {
            final long bytes = pixels.frameBytes(size[0], size[1]);
            long last = -1;
            for (final Plane plane : pixels.planes(size[0], size[1])) {
                assertTrue(plane.offset() > last && plane.offset() < bytes, pixels + " " + plane);
                last = plane.offset();
            }
        }
        assertEquals(Optional.of(pixels), PixelFormat.of(pixels.ffmpegName()));
    }

    @Test
    void shouldDescribeNv12AsOneTensor() {
        final FrameFormat format = FrameFormat.picture(PixelFormat.NV12, 1280, 720);
        assertEquals("1280x720xnv12, uint8[1080x1280]", format.toString());
        assertEquals(Optional.empty(), PixelFormat.NV12.tensor(1279, 720));
        assertEquals(Optional.of("NV12"), PixelFormat.NV12.gstreamerName());
    }

    @Test
    void shouldRefusePicturesWithOtherPlanes() {
        final List<Plane> one = List.of(new Plane(0, 64));
        assertThrows(
                IllegalArgumentException.class, () -> new Picture(PixelFormat.NV12, 64, 64, one, Picture.Range.FULL));
        assertThrows(IllegalArgumentException.class, () -> Picture.of(PixelFormat.GRAY, 0, 64));
    }

    @Test
    void shouldKeepKeysInOrder() {
        final FrameFormat format =
                FrameFormat.EMPTY.withKey("b", "2").withKey("a", "1").withRate(new FrameRate(30, 1));
        assertEquals("30/s, a=1, b=2", format.toString());
        assertEquals(
                format,
                FrameFormat.EMPTY
                        .withRate(new FrameRate(30, 1))
                        .withKey("a", "1")
                        .withKey("b", "2"));
    }
}
