package io.framecast.gpu.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.DeviceBackendProvider;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class CudaProviderTest {
    @Test
    void shouldRankAboveTheEmulatedDevice() {
        final var providers = ServiceLoader.load(DeviceBackendProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
        final int cuda = rank(providers, "cuda");
        assertTrue(cuda > rank(providers, "emulated"));
    }

    private static int rank(final Iterable<DeviceBackendProvider> providers, final String kind) {
        for (final DeviceBackendProvider provider : providers) {
            if (provider.kind().equals(kind)) {
                return provider.rank();
            }
        }
        throw new AssertionError("no provider " + kind);
    }

    @Test
    void shouldSayThatThereIsNoDriver() {
        final CudaProvider provider = new CudaProvider();
        Assumptions.assumeFalse(provider.unavailable().isEmpty(), "a CUDA driver is here");
        assertEquals(Optional.of("no CUDA driver"), provider.unavailable());
        assertEquals(provider.unavailable(), provider.unavailable());
        assertEquals(0, provider.deviceCount());
        final var e = assertThrows(DeviceException.class, () -> provider.open(0));
        assertEquals("cuda:0: no CUDA driver; install the NVIDIA driver or use device=emulated", e.getMessage());
    }
}
