package io.framecast.gpu.cuda;

import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUfunction;
import jcuda.driver.CUstream;

/// JCuda's handles with their native value in the open: JCuda fills them in, the downcalls of [CudaCalls] take
/// the value. JCuda keeps it protected, which a subclass may read; reflection is not needed.
final class CudaHandles {
    private CudaHandles() {}

    static final class Context extends CUcontext {
        long value() {
            return getNativePointer();
        }
    }

    static final class Stream extends CUstream {
        long value() {
            return getNativePointer();
        }
    }

    static final class Event extends CUevent {
        long value() {
            return getNativePointer();
        }
    }

    static final class Function extends CUfunction {
        long value() {
            return getNativePointer();
        }
    }

    static final class DevicePointer extends CUdeviceptr {
        long value() {
            return getNativePointer();
        }
    }

    /// Any host address as JCuda wants it.
    static final class HostPointer extends Pointer {
        HostPointer(final long address) {
            super(address);
        }
    }
}
