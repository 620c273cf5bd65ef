package io.framecast.gpu.cuda;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import jcuda.driver.CUdevice;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/// Finds out, once per process, whether CUDA can be used, and starts it.
final class CudaDriver {
    private static final int PCI_ADDRESS_BYTES = 64;
    private static final String TEMPORARY_DIRECTORY = "java.io.tmpdir";
    // Where container runtimes put the driver without telling the loader. Loaded by its path, a library is
    // found by its name from then on; the second compiles PTX, and libcuda looks for it by its name.
    private static final List<Path> ELSEWHERE = List.of(
            Path.of("/usr/local/nvidia/lib64/libcuda.so.1"),
            Path.of("/usr/local/nvidia/lib64/libnvidia-ptxjitcompiler.so.1"));

    private CudaDriver() {}

    private record Probe(Optional<String> unavailable, int deviceCount) {}

    private static final class Holder {
        static final Probe PROBE = probe();
    }

    /// Why CUDA cannot be used here, in a few words.
    static Optional<String> unavailable() {
        return Holder.PROBE.unavailable();
    }

    static int deviceCount() {
        return Holder.PROBE.deviceCount();
    }

    /// The PCI function of a GPU; empty where the driver gives none.
    static Optional<String> pciAddress(final int ordinal) {
        final CUdevice device = new CUdevice();
        final String[] address = {""};
        return JCudaDriver.cuDeviceGet(device, ordinal) == CUresult.CUDA_SUCCESS
                        && JCudaDriver.cuDeviceGetPCIBusId(address, PCI_ADDRESS_BYTES, device) == CUresult.CUDA_SUCCESS
                ? Optional.of(address[0].strip().toLowerCase(Locale.ROOT))
                : Optional.empty();
    }

    private static Probe probe() {
        // Cheap, and says "no driver" where JCuda would print two stack traces into its error.
        if (!isFound()) {
            if (Files.notExists(ELSEWHERE.getFirst())) {
                return no("no CUDA driver");
            }
            final String refusal = loadElsewhere();
            if (!isFound()) {
                return no("the CUDA driver does not load: " + refusal);
            }
        }
        try {
            loadJcuda();
            return start();
        } catch (final IOException e) {
            return no("no temporary directory for JCuda's libraries: " + e);
        } catch (final LinkageError e) {
            return no("CUDA driver too old, or no JCuda for this CPU: " + cause(e));
        }
    }

    private static boolean isFound() {
        try {
            SymbolLookup.libraryLookup(CudaCalls.LIBRARY, Arena.global());
            return true;
        } catch (final IllegalArgumentException _) {
            return false;
        }
    }

    /// @return the loader's message; empty when it loaded both
    private static String loadElsewhere() {
        String refusal = "";
        for (final Path library : ELSEWHERE) {
            try {
                System.load(library.toString());
            } catch (final UnsatisfiedLinkError e) {
                refusal = refusal.isEmpty() ? cause(e) : refusal;
            }
        }
        return refusal;
    }

    // A name that the driver lacks is the cause of an initialiser's error. JCuda reports two attempts with their
    // stack traces; the loader's own message is in the lines of the last error.
    private static String cause(final LinkageError error) {
        final String message = String.valueOf(
                Objects.requireNonNullElse(error.getCause(), error).getMessage());
        final String marker = "UnsatisfiedLinkError: ";
        final int at = message.lastIndexOf(marker);
        return message.substring(at < 0 ? 0 : at + marker.length())
                .lines()
                .findFirst()
                .orElse("")
                .strip();
    }

    private static Probe start() {
        final int initCode = JCudaDriver.cuInit(0);
        if (initCode == CUresult.CUDA_ERROR_NO_DEVICE) {
            return no("no CUDA device");
        }
        if (initCode == CUresult.CUDA_ERROR_STUB_LIBRARY) {
            return no("no CUDA driver, only the toolkit's stub");
        }
        if (initCode != CUresult.CUDA_SUCCESS) {
            return no("CUDA driver does not start: " + CudaErrors.name(initCode) + ", " + CudaErrors.fix(initCode));
        }
        final int[] count = new int[1];
        final int countCode = JCudaDriver.cuDeviceGetCount(count);
        if (countCode != CUresult.CUDA_SUCCESS) {
            return no("CUDA driver does not count its devices: " + CudaErrors.name(countCode) + ", "
                    + CudaErrors.fix(countCode));
        }
        if (count[0] == 0) {
            return no("no CUDA device");
        }
        CudaCalls.bind();
        return new Probe(Optional.empty(), count[0]);
    }

    private static Probe no(final String reason) {
        return new Probe(Optional.of(reason), 0);
    }

    // JCuda unpacks its library under a fixed name into java.io.tmpdir and loads a file that is there already, even
    // another user's. So JCuda gets a directory that only this user can write, for the moment of loading. The JDK
    // reads the property once, in the line before, so no other thread's temporary files go astray.
    private static void loadJcuda() throws IOException {
        final Path directory = Files.createTempDirectory("framecast-jcuda");
        final String before = System.setProperty(TEMPORARY_DIRECTORY, directory.toString());
        try {
            JCudaDriver.setExceptionsEnabled(false);
        } finally {
            if (before == null) {
                System.clearProperty(TEMPORARY_DIRECTORY);
            } else {
                System.setProperty(TEMPORARY_DIRECTORY, before);
            }
            delete(directory);
        }
    }

    // A loaded library lives on without its file.
    private static void delete(final Path directory) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (final Path file : files) {
                Files.deleteIfExists(file);
            }
        }
        Files.deleteIfExists(directory);
    }
}
