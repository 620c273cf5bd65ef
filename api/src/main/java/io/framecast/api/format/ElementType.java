package io.framecast.api.format;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The type of a tensor's elements, in the terms of DLPack (DLDataType): a kind, bits of one lane, lanes.
///
/// @param bits 1 … 255
/// @param lanes 1 … 65 535; more than 1 for vectors
public record ElementType(Kind kind, int bits, int lanes) {
    public static final ElementType UINT8 = new ElementType(Kind.UINT, 8, 1);
    public static final ElementType UINT16 = new ElementType(Kind.UINT, 16, 1);
    public static final ElementType INT16 = new ElementType(Kind.INT, 16, 1);
    public static final ElementType INT32 = new ElementType(Kind.INT, 32, 1);
    public static final ElementType FLOAT16 = new ElementType(Kind.FLOAT, 16, 1);
    public static final ElementType FLOAT32 = new ElementType(Kind.FLOAT, 32, 1);
    public static final ElementType FLOAT64 = new ElementType(Kind.FLOAT, 64, 1);
    public static final ElementType BFLOAT16 = new ElementType(Kind.BFLOAT, 16, 1);
    public static final ElementType COMPLEX64 = new ElementType(Kind.COMPLEX, 64, 1);
    public static final ElementType BOOL = new ElementType(Kind.BOOL, 8, 1);

    private static final Pattern NAME =
            Pattern.compile("(int|uint|float|bfloat|complex|bool)(\\d{1,3})?(?:x(\\d{1,5}))?");

    /// DLDataTypeCode.
    public enum Kind {
        INT(0),
        UINT(1),
        FLOAT(2),
        BFLOAT(4),
        COMPLEX(5),
        BOOL(6);

        private final int code;

        Kind(final int code) {
            this.code = code;
        }

        /// DLPack's number.
        public int code() {
            return code;
        }

        /// @throws IllegalArgumentException when DLPack's number is none of these
        public static Kind of(final int code) {
            for (final Kind kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            throw new IllegalArgumentException(
                    "element type: expected a DLPack code of 0, 1, 2, 4, 5 or 6, got " + code);
        }
    }

    public ElementType {
        if (bits < 1 || bits > 255 || lanes < 1 || lanes > 65_535) {
            throw new IllegalArgumentException(
                    "element type: expected 1 … 255 bits and 1 … 65535 lanes, got " + bits + " and " + lanes);
        }
    }

    /// Reads a name such as `uint8`, `float32`, `bfloat16`, `complex64`, `bool` or `float32x4`.
    ///
    /// @throws IllegalArgumentException with one line that names the expected value
    public static ElementType parse(final String name) {
        final Matcher matcher = NAME.matcher(name);
        final boolean known = matcher.matches();
        if (!known || (matcher.group(2) == null && !matcher.group(1).equals("bool"))) {
            throw new IllegalArgumentException(
                    "element type: expected a name such as uint8, int16, float32, bfloat16 or bool, got " + name);
        }
        final Kind kind = Kind.valueOf(matcher.group(1).toUpperCase(Locale.ROOT));
        final int bits = matcher.group(2) == null ? 8 : Integer.parseInt(matcher.group(2));
        return new ElementType(kind, bits, matcher.group(3) == null ? 1 : Integer.parseInt(matcher.group(3)));
    }

    /// Bytes of one element, all lanes, rounded up.
    public int bytes() {
        return (bits * lanes + 7) / 8;
    }

    @Override
    public String toString() {
        final String name = kind.name().toLowerCase(Locale.ROOT) + (kind == Kind.BOOL && bits == 8 ? "" : bits);
        return lanes == 1 ? name : name + 'x' + lanes;
    }
}
