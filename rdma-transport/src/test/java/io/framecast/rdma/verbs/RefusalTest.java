package io.framecast.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.NativeException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Each call that can fail, refused in turn: the error names function, errno and meaning, and nothing stays
/// behind.
final class RefusalTest {
    private static final int ERRNO = VerbsErrors.EINVAL;

    private final StandIn standIn = StandIn.load();
    private final StandInCm subnet = StandInCm.load();
    private final VerbsLibrary library = standIn.library();
    private final long nativeBefore = standIn.count("live");

    @AfterEach
    void leaveNothing() {
        assertEquals(0, library.liveHandles());
        assertEquals(nativeBefore, standIn.count("live"));
        assertEquals(0, subnet.live());
    }

    /// A call to refuse, and what makes it.
    private record Call(String function, Consumer<Made> by) {
        @Override
        public String toString() {
            return function;
        }
    }

    /// One of each kind of object.
    private record Made(
            VerbsLibrary library,
            Arena arena,
            Context context,
            ProtectionDomain domain,
            CompletionChannel channel,
            CompletionQueue completions,
            QueuePair datagrams,
            QueuePair connection) {
        AddressPath path() {
            return Fabric.path(context.gid(1, 1).orElseThrow(), new Gid(0, 0xffff0a4d0001L));
        }

        QueuePairConfig config() {
            return new QueuePairConfig(
                    QueuePairConfig.Service.UD, completions, new QueuePairConfig.Limits(4, 4, 1, 1, 0));
        }

        // The first close is refused, the second is not.
        void close(final Handle handle) {
            try {
                handle.close();
            } finally {
                assertTrue(handle.isOpen());
                handle.close();
            }
        }
    }

    static Stream<Call> calls() {
        return Stream.of(
                new Call("ibv_get_device_list", made -> made.library.devices()),
                new Call("ibv_open_device", made -> made.library.open("standin1")),
                new Call("ibv_close_device", made -> made.close(made.library.open("standin1"))),
                new Call("ibv_query_device", made -> made.context.attributes()),
                new Call("ibv_query_port", made -> made.context.port(1)),
                new Call("_ibv_query_gid_ex", made -> made.context.gid(1, 0)),
                new Call(
                        "ibv_get_async_event",
                        made -> made.context.asyncEvents(1, made.arena).next()),
                new Call("ibv_alloc_pd", made -> made.context.protectionDomain()),
                new Call("ibv_dealloc_pd", made -> made.close(made.context.protectionDomain())),
                new Call("ibv_reg_mr", made -> made.domain.register(made.arena.allocate(8), Access.LOCAL_READ)),
                new Call(
                        "ibv_dereg_mr",
                        made -> made.close(made.domain.register(made.arena.allocate(8), Access.LOCAL_READ))),
                new Call("ibv_reg_dmabuf_mr", made -> made.domain.registerDmaBuf(0, 0, 0, 4096, Access.LOCAL_READ)),
                new Call("ibv_create_comp_channel", made -> made.context.completionChannel()),
                new Call("ibv_destroy_comp_channel", made -> made.close(made.context.completionChannel())),
                new Call("ibv_create_cq", made -> made.context.completionQueue(4, null)),
                new Call("ibv_destroy_cq", made -> made.close(made.context.completionQueue(4, null))),
                new Call("ibv_get_cq_event", made -> made.channel.drain()),
                new Call("ibv_req_notify_cq", made -> made.completions.arm()),
                new Call("ibv_create_qp", made -> made.domain.queuePair(made.config())),
                new Call("ibv_destroy_qp", made -> made.close(made.domain.queuePair(made.config()))),
                new Call("ibv_modify_qp", made -> made.datagrams.startDatagrams(1, 0, 0)),
                new Call("ibv_modify_qp", made -> made.connection.initialize(1, 0, Access.LOCAL_READ)),
                new Call("ibv_modify_qp", made -> made.connection.reset()),
                new Call("ibv_modify_qp", made -> made.connection.fail()),
                new Call("ibv_query_qp", made -> made.datagrams.state()),
                new Call("ibv_create_ah", made -> made.domain.addressHandle(made.path())),
                new Call("ibv_destroy_ah", made -> made.close(made.domain.addressHandle(made.path()))),
                new Call("ibv_attach_mcast", made -> made.datagrams.attach(new Gid(0xff0eL << 48, 1), 0)),
                new Call("ibv_post_send", made -> {
                    made.datagrams.startDatagrams(1, 0, 0);
                    new SendRequests(made.arena, 4, 1).post(made.datagrams, 0, 1);
                }),
                new Call("ibv_post_recv", made -> new ReceiveRequests(made.arena, 4, 1).post(made.datagrams, 0, 1)));
    }

    @ParameterizedTest
    @MethodSource("calls")
    void shouldNameFunctionErrnoAndMeaning(final Call call) {
        final QueuePairConfig.Limits limits = new QueuePairConfig.Limits(4, 4, 1, 1, 0);
        try (Arena arena = Arena.ofShared();
                Context context = library.open("standin0");
                ProtectionDomain domain = context.protectionDomain();
                CompletionChannel channel = context.completionChannel();
                CompletionQueue completions = context.completionQueue(8, channel);
                QueuePair datagrams =
                        domain.queuePair(new QueuePairConfig(QueuePairConfig.Service.UD, completions, limits));
                QueuePair connection =
                        domain.queuePair(new QueuePairConfig(QueuePairConfig.Service.RC, completions, limits))) {
            final Made made = new Made(library, arena, context, domain, channel, completions, datagrams, connection);
            final int before = library.liveHandles();
            standIn.fail(call.function, ERRNO);
            assertNamed(call.function, assertThrows(NativeException.class, () -> call.by.accept(made)));
            assertEquals(before, library.liveHandles());
        }
    }

    private static void assertNamed(final String function, final NativeException e) {
        assertEquals(function, e.function());
        assertEquals(ERRNO, e.errno());
        final String message = String.valueOf(e.getMessage());
        assertTrue(message.matches("(?s)" + function + ": errno " + ERRNO + ", .+: .+"), message);
    }

    private SubnetGroup join() throws Exception {
        return SubnetGroup.join(
                subnet.library(),
                InetAddress.getByName("10.9.0.1"),
                InetAddress.getByName("239.77.1.2"),
                2_000_000_000L);
    }

    static List<String> callsOfASubnet() {
        return List.of(
                "rdma_create_event_channel",
                "rdma_create_id",
                "rdma_bind_addr",
                "rdma_join_multicast",
                "rdma_get_cm_event");
    }

    @ParameterizedTest
    @MethodSource("callsOfASubnet")
    void shouldNameFunctionErrnoAndMeaningOfASubnet(final String function) {
        subnet.fail(function, ERRNO);
        assertNamed(function, assertThrows(NativeException.class, this::join));
    }

    /// No caller could act on the refusal, and the rest must be released.
    @Test
    void shouldLetTheRestGoWhenLeavingIsRefused() throws Exception {
        final SubnetGroup group = join();
        subnet.fail("rdma_leave_multicast", ERRNO);
        group.close();
        assertEquals(0, subnet.live());
    }
}
