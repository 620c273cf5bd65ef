package io.framecast.gpu;

import io.framecast.api.spi.KernelSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/// The contract's kernel with its PTX.
public final class ContractPtx {
    private ContractPtx() {}

    public static KernelSource withPtx(final KernelSource kernel) {
        return new KernelSource(kernel.name(), () -> resource(kernel.name() + ".ptx"), kernel.emulation());
    }

    public static byte[] resource(final String name) {
        try (InputStream in = ContractPtx.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new AssertionError("no test resource " + name);
            }
            return in.readAllBytes();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
