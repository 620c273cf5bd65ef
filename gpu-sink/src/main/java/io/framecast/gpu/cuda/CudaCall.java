package io.framecast.gpu.cuda;

import java.lang.invoke.MethodHandle;

/// A function of libcuda that takes handles, host pointers and device addresses, all as `long`, and answers a
/// CUresult. The compiler trusts the fields of a record, so it inlines the handle of a constant.
///
/// @param name in messages
record CudaCall(String name, MethodHandle handle) {
    int call(final long a) {
        try {
            return (int) handle.invokeExact(a);
        } catch (final Throwable e) {
            throw CudaCalls.impossible(e);
        }
    }

    /// As [#call], and throws unless it succeeds.
    void check(final long a) {
        CudaErrors.check(name, call(a));
    }

    void check(final long a, final long b) {
        final int code;
        try {
            code = (int) handle.invokeExact(a, b);
        } catch (final Throwable e) {
            throw CudaCalls.impossible(e);
        }
        CudaErrors.check(name, code);
    }

    void check(final long a, final long b, final long c, final long d) {
        final int code;
        try {
            code = (int) handle.invokeExact(a, b, c, d);
        } catch (final Throwable e) {
            throw CudaCalls.impossible(e);
        }
        CudaErrors.check(name, code);
    }
}
