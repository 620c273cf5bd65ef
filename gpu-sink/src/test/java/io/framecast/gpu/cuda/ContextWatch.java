package io.framecast.gpu.cuda;

import io.framecast.api.spi.DeviceAccess;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceGather;
import io.framecast.api.spi.DeviceMapping;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import jcuda.driver.CUctx_flags;
import jcuda.driver.CUdevice;
import jcuda.driver.JCudaDriver;

/// Looks behind each call into a device, on the caller's thread, whether the CUDA context that is current there
/// is still the one from before. Over the stub libcuda, which can be asked how many contexts a thread has
/// stacked.
public final class ContextWatch implements InvocationHandler {
    private static final Set<String> CHANGED = new ConcurrentSkipListSet<>();
    private static final Set<Class<?>> WATCHED = Set.of(
            DeviceBackend.class,
            DeviceStream.class,
            DeviceEvent.class,
            DeviceGather.class,
            DeviceMapping.class,
            DeviceAccess.class);
    private static final MethodHandle DEPTH = Linker.nativeLinker()
            .downcallHandle(
                    SymbolLookup.libraryLookup(CudaCalls.LIBRARY, Arena.global())
                            .findOrThrow("framecast_stub_depth"),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT));

    private final Object target;

    private ContextWatch(final Object target) {
        this.target = target;
    }

    /// The device, watched.
    public static DeviceBackend over(final DeviceBackend device) {
        return (DeviceBackend) watched(DeviceBackend.class, device);
    }

    /// Calls that left another context behind than they found, since the last time.
    public static Set<String> changed() {
        final Set<String> all = new TreeSet<>(CHANGED);
        CHANGED.clear();
        return all;
    }

    /// Makes a context of a user's own current on this thread, before Framecast has looked at the driver.
    public static void enterOther() {
        JCudaDriver.cuInit(0);
        final CudaHandles.Context made = new CudaHandles.Context();
        CudaErrors.check("cuCtxCreate", JCudaDriver.cuCtxCreate(made, CUctx_flags.CU_CTX_SCHED_AUTO, new CUdevice()));
    }

    /// The current context of this thread, and the depth of its stack.
    public static String current() {
        final CudaHandles.Context current = new CudaHandles.Context();
        JCudaDriver.cuCtxGetCurrent(current);
        try {
            return current.value() + " of " + (int) DEPTH.invokeExact();
        } catch (final Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static Object watched(final Class<?> type, final Object object) {
        return Proxy.newProxyInstance(
                ContextWatch.class.getClassLoader(), new Class<?>[] {type}, new ContextWatch(object));
    }

    private static Object bare(final Object argument) {
        return argument != null
                        && Proxy.isProxyClass(argument.getClass())
                        && Proxy.getInvocationHandler(argument) instanceof ContextWatch watch
                ? watch.target
                : argument;
    }

    @Override
    public Object invoke(final Object proxy, final Method method, final Object[] arguments) throws Throwable {
        final Object[] bare = arguments == null
                ? new Object[0]
                : Arrays.stream(arguments).map(ContextWatch::bare).toArray();
        final String before = current();
        try {
            final Object answer = method.invoke(target, bare);
            return WATCHED.contains(method.getReturnType()) ? watched(method.getReturnType(), answer) : answer;
        } catch (final InvocationTargetException e) {
            throw e.getCause();
        } finally {
            final String after = current();
            if (!after.equals(before)) {
                CHANGED.add(method.getName() + ": " + before + " became " + after);
            }
        }
    }
}
