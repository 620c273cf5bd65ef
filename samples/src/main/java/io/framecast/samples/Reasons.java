package io.framecast.samples;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// Why a file cannot be used, in words: the JDK's messages repeat the path and leave the reason out.
public final class Reasons {
    private Reasons() {}

    public static String of(final Path file, final IOException failure) {
        final String reason = switch (failure) {
            case NoSuchFileException _ -> "no such file or directory";
            case AccessDeniedException _ -> "permission denied";
            case FileSystemException e when e.getReason() != null -> e.getReason();
            default -> String.valueOf(failure.getMessage());
        };
        return file + ": " + reason;
    }
}
