package io.framecast.gpu.sharing;

import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.provider.ProviderLookup;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceHandle;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceSharing;
import io.framecast.api.spi.DeviceStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.zip.CRC32C;

/// A process with one device, which carries out commands, one a line: `WORD ARGUMENT…`. It answers each by one line,
/// `ok …`, or `no …` where the device refused. Only its own part of [DeviceSharingContract].
final class SharingProcess {
    private final DeviceBackend device;
    private final DeviceSharing sharing;
    private final DeviceStream stream;
    private DeviceRegion own = DeviceRegion.ofDevice(1, 1);
    private DeviceRegion opened = own;

    private SharingProcess(final DeviceBackend device) {
        this.device = device;
        sharing = device.capability(DeviceSharing.class).orElseThrow();
        stream = device.openStream();
    }

    /// @param arguments kind and ordinal of the device
    public static void main(final String[] arguments) throws IOException {
        final PrintStream answers = System.out;
        try (DeviceBackend device = open(arguments[0], Integer.parseInt(arguments[1]));
                BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            final SharingProcess process = new SharingProcess(device);
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                answers.println(process.answer(line.split(" ")));
                answers.flush();
            }
            process.stream.close();
        } catch (final DeviceException e) {
            answers.println("no " + e.getMessage());
        }
    }

    private static DeviceBackend open(final String kind, final int ordinal) {
        return ProviderLookup.devices().stream()
                .filter(provider -> provider.kind().equals(kind))
                .map(DeviceBackendProvider.class::cast)
                .findFirst()
                .orElseThrow()
                .open(ordinal);
    }

    private String answer(final String[] words) {
        try {
            return "ok " + did(words);
        } catch (final DeviceException | IllegalArgumentException e) {
            return "no " + e.getMessage();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String did(final String[] words) throws IOException {
        switch (words[0]) {
            case "refusal" -> {
                return sharing.refusal().orElse("");
            }
            case "identity" -> {
                return sharing.identity().toString();
            }
            case "reach" -> {
                return sharing.reachRefusal(UUID.fromString(words[1])).orElse("");
            }
            case "share" -> {
                own = sharing.allocate(Long.parseLong(words[1]));
                final DeviceHandle handle = sharing.handle(own);
                return handle.device() + " " + handle.bytes() + " " + handle.text();
            }
            case "write" -> write(own, Integer.parseInt(words[1]));
            case "open" ->
                opened = sharing.open(new DeviceHandle(UUID.fromString(words[1]), Long.parseLong(words[2]), words[3]));
            case "read" -> {
                return checksum(opened);
            }
            case "copy" -> {
                final DeviceRegion target = device.allocate(opened.bytes());
                stream.copyWithin(target.address(), opened.address(), opened.bytes());
                final String checksum = checksum(target);
                device.free(target);
                return checksum;
            }
            case "close" -> sharing.close(opened, () -> {});
            case "free" -> device.free(own);
            case "resources" -> {
                return device.resources().toString();
            }
            case "outside" -> stream.copyWithin(opened.address(), opened.address(), opened.bytes() + 1);
            default -> throw new IllegalArgumentException(words[0]);
        }
        return "";
    }

    // The pattern of a number, and its checksum.
    private void write(final DeviceRegion region, final int number) {
        final MemorySegment host = device.allocatePinned(region.bytes());
        for (long i = 0; i < region.bytes(); i++) {
            host.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + i / 251 + number));
        }
        stream.copyToDevice(region.address(), host, 0, region.bytes());
        stream.synchronize();
        device.freePinned(host);
    }

    private String checksum(final DeviceRegion region) {
        final MemorySegment host = device.allocatePinned(region.bytes());
        stream.copyToHost(host, 0, region.address(), region.bytes());
        stream.synchronize();
        final CRC32C sum = new CRC32C();
        sum.update(host.asByteBuffer());
        device.freePinned(host);
        return Long.toHexString(sum.getValue());
    }
}
