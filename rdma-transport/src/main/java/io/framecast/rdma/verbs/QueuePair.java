package io.framecast.rdma.verbs;

import static io.framecast.rdma.verbs.VerbsConstants.*;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.framecast.rdma.verbs.QueuePairConfig.Limits;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A send queue and a receive queue.
///
/// Life of a UD one: [#startDatagrams], post. Of an RC one: [#initialize], post receives, exchange numbers
/// with the peer, [#connect], post. After a failed request it is in [State#ERROR]: everything posted
/// completes as flushed, and only [#reset] or closing leads out.
///
/// Threading: posting by one thread per direction; the rest as [Handle] says.
public final class QueuePair extends Handle {
    /// Queue pair number that stands for all members of a group.
    public static final int MULTICAST = 0xFFFFFF;

    private static final int PSN_MAX = 0xFFFFFF;

    private final ProtectionDomain domain;
    private final Limits limits;
    private final boolean blocksLoopback;
    private final int number;
    private final MemorySegment postSend;
    private final MemorySegment postReceive;
    // Any port, until the queue pair is initialized.
    private volatile int port = 1;

    private QueuePair(
            final ProtectionDomain domain,
            final MemorySegment queuePair,
            final QueuePairConfig config,
            final Limits limits,
            final boolean blocksLoopback) {
        super(
                domain.library(),
                queuePair,
                "ibv_destroy_qp",
                config.service() + " queue pair " + Verbs.intAt(queuePair, VerbsLayouts.QP, "qp_num") + " on "
                        + domain.context().name(),
                domain,
                config.sendCompletions(),
                config.receiveCompletions());
        this.domain = domain;
        this.limits = limits;
        this.blocksLoopback = blocksLoopback;
        number = Verbs.intAt(queuePair, VerbsLayouts.QP, "qp_num");
        postSend = domain.context().operations().postSend();
        postReceive = domain.context().operations().postReceive();
    }

    /// In the order of verbs.h.
    public enum State {
        RESET,
        INIT,
        /// Ready to receive.
        RTR,
        /// Ready to send and receive.
        RTS,
        /// Send queue drained.
        SQD,
        /// Send queue error: a UD send failed; receives go on.
        SQE,
        ERROR,
        UNKNOWN
    }

    static QueuePair create(
            final ProtectionDomain domain, final QueuePairConfig config, final boolean withoutLoopback) {
        final Context context = domain.context();
        requireSame(domain, config);
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment attributes = scratch.allocate(VerbsLayouts.QP_INIT_ATTR_EX);
            // Read once: another thread may find that the device takes none.
            final MemorySegment create = context.createFlagged();
            if (withoutLoopback && !create.equals(MemorySegment.NULL)) {
                write(attributes, config);
                final MemorySegment blocking = createBlocking(domain, create, scratch, attributes);
                if (!blocking.equals(MemorySegment.NULL)) {
                    return new QueuePair(domain, blocking, config, readLimits(attributes), true);
                }
            }
            write(attributes, config);
            final String what = config.service() + " queue pair on " + context.name();
            final MemorySegment queuePair = domain.verbs().make("ibv_create_qp", what, domain.pointer(), attributes);
            if (withoutLoopback) {
                // The device takes the same request without the flag, so it refused the flag.
                context.takesNoFlags();
            }
            return new QueuePair(domain, queuePair, config, readLimits(attributes), false);
        }
    }

    // NULL where the device may have refused the flag, or another value that it refuses again without the flag.
    private static MemorySegment createBlocking(
            final ProtectionDomain domain,
            final MemorySegment create,
            final Arena scratch,
            final MemorySegment attributes) {
        attributes.set(JAVA_INT, extended("comp_mask"), IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS);
        attributes.set(ADDRESS, extended("pd"), domain.pointer());
        attributes.set(JAVA_INT, extended("create_flags"), IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
        final Context context = domain.context();
        final MemorySegment capture = Downcalls.newCapture(scratch);
        final MemorySegment made =
                MemorySegment.ofAddress(Downcalls.call(create, capture, context.pointer(), attributes));
        if (made.equals(MemorySegment.NULL)) {
            final int errno = Downcalls.errno(capture);
            switch (errno) {
                case VerbsErrors.EOPNOTSUPP, VerbsErrors.EPROTONOSUPPORT, VerbsErrors.ENOSYS, VerbsErrors.EINVAL -> {}
                default -> throw VerbsErrors.of("ibv_create_qp_ex", errno, "queue pair on " + context.name());
            }
        }
        return made;
    }

    // Writes the members that ibv_qp_init_attr and ibv_qp_init_attr_ex have in common.
    private static void write(final MemorySegment attributes, final QueuePairConfig config) {
        attributes.set(ADDRESS, initial("send_cq"), config.sendCompletions().pointer());
        attributes.set(ADDRESS, initial("recv_cq"), config.receiveCompletions().pointer());
        attributes.set(ADDRESS, initial("srq"), MemorySegment.NULL);
        attributes.set(JAVA_INT, initial("qp_type"), config.service().code());
        writeLimits(attributes, config.limits());
    }

    private static void requireSame(final ProtectionDomain domain, final QueuePairConfig config) {
        final Context context = domain.context();
        if (config.sendCompletions().context() != context
                || config.receiveCompletions().context() != context) {
            throw new IllegalArgumentException(
                    "queue pair on " + context.name() + ": a queue it shall use is of another device");
        }
    }

    private static void writeLimits(final MemorySegment attributes, final Limits limits) {
        attributes.set(JAVA_INT, initial("cap", "max_send_wr"), limits.sends());
        attributes.set(JAVA_INT, initial("cap", "max_recv_wr"), limits.receives());
        attributes.set(JAVA_INT, initial("cap", "max_send_sge"), limits.sendElements());
        attributes.set(JAVA_INT, initial("cap", "max_recv_sge"), limits.receiveElements());
        attributes.set(JAVA_INT, initial("cap", "max_inline_data"), limits.inlineBytes());
    }

    private static Limits readLimits(final MemorySegment attributes) {
        return new Limits(
                attributes.get(JAVA_INT, initial("cap", "max_send_wr")),
                attributes.get(JAVA_INT, initial("cap", "max_recv_wr")),
                attributes.get(JAVA_INT, initial("cap", "max_send_sge")),
                attributes.get(JAVA_INT, initial("cap", "max_recv_sge")),
                attributes.get(JAVA_INT, initial("cap", "max_inline_data")));
    }

    /// The number by which peers address it.
    public int number() {
        return number;
    }

    public ProtectionDomain domain() {
        return domain;
    }

    /// Sizes that the device gave: at least the requested ones.
    public Limits limits() {
        return limits;
    }

    /// Whether its device took the request of [ProtectionDomain#queuePairWithoutLoopback].
    public boolean blocksLoopback() {
        return blocksLoopback;
    }

    /// Makes a UD queue pair ready to send and receive.
    ///
    /// @param onPort from 1
    /// @param pkeyIndex partition
    /// @param queueKey the key of datagrams that are received here; the device drops other datagrams silently
    public void startDatagrams(final int onPort, final int pkeyIndex, final int queueKey) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment attributes = initialized(scratch, onPort, pkeyIndex);
            attributes.set(JAVA_INT, at("qkey"), queueKey);
            modify(attributes, State.INIT, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
            modify(attributes, State.RTR, IBV_QP_STATE);
            modify(attributes, State.RTS, IBV_QP_STATE | IBV_QP_SQ_PSN);
        }
    }

    /// Makes an RC queue pair ready for receives to be posted.
    ///
    /// @param access flags of [Access]: the operations that the peer may do
    public void initialize(final int onPort, final int pkeyIndex, final int access) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment attributes = initialized(scratch, onPort, pkeyIndex);
            attributes.set(JAVA_INT, at("qp_access_flags"), access);
            modify(attributes, State.INIT, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
        }
    }

    private MemorySegment initialized(final Arena scratch, final int onPort, final int pkeyIndex) {
        port = onPort;
        final MemorySegment attributes = scratch.allocate(VerbsLayouts.QP_ATTR);
        attributes.set(JAVA_BYTE, at("port_num"), (byte) onPort);
        attributes.set(JAVA_SHORT, at("pkey_index"), (short) pkeyIndex);
        return attributes;
    }

    /// Makes an RC queue pair ready to send and receive. Says nothing about the peer being there.
    public void connect(final RcPeer peer) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment attributes = scratch.allocate(VerbsLayouts.QP_ATTR);
            final RcPeer.Patience patience = peer.patience();
            peer.path().write(attributes.asSlice(at("ah_attr"), VerbsLayouts.AH_ATTR));
            attributes.set(JAVA_INT, at("path_mtu"), PortAttributes.Mtu.code(peer.mtuBytes()));
            attributes.set(JAVA_INT, at("dest_qp_num"), peer.queuePair());
            attributes.set(JAVA_INT, at("rq_psn"), peer.receivePsn() & PSN_MAX);
            attributes.set(JAVA_BYTE, at("max_dest_rd_atomic"), (byte) patience.readsMax());
            attributes.set(JAVA_BYTE, at("min_rnr_timer"), (byte) patience.notReadyTimer());
            modify(
                    attributes,
                    State.RTR,
                    IBV_QP_STATE
                            | IBV_QP_AV
                            | IBV_QP_PATH_MTU
                            | IBV_QP_DEST_QPN
                            | IBV_QP_RQ_PSN
                            | IBV_QP_MAX_DEST_RD_ATOMIC
                            | IBV_QP_MIN_RNR_TIMER);
            attributes.set(JAVA_INT, at("sq_psn"), peer.sendPsn() & PSN_MAX);
            attributes.set(JAVA_BYTE, at("timeout"), (byte) patience.ackTimeout());
            attributes.set(JAVA_BYTE, at("retry_cnt"), (byte) patience.retries());
            attributes.set(JAVA_BYTE, at("rnr_retry"), (byte) patience.notReadyRetries());
            attributes.set(JAVA_BYTE, at("max_rd_atomic"), (byte) patience.readsMax());
            modify(
                    attributes,
                    State.RTS,
                    IBV_QP_STATE
                            | IBV_QP_SQ_PSN
                            | IBV_QP_TIMEOUT
                            | IBV_QP_RETRY_CNT
                            | IBV_QP_RNR_RETRY
                            | IBV_QP_MAX_QP_RD_ATOMIC);
        }
    }

    /// Ends all traffic: posted requests complete as flushed, and the device refuses later sends and writes of
    /// peers.
    public void fail() {
        transition(State.ERROR);
    }

    /// Forgets everything posted, without completions, and begins anew.
    public void reset() {
        transition(State.RESET);
    }

    private void transition(final State state) {
        try (Arena scratch = Arena.ofConfined()) {
            modify(scratch.allocate(VerbsLayouts.QP_ATTR), state, IBV_QP_STATE);
        }
    }

    private void modify(final MemorySegment attributes, final State state, final int mask) {
        attributes.set(JAVA_INT, at("qp_state"), state.ordinal());
        verbs().require("ibv_modify_qp", this + " to " + state, pointer(), attributes, mask);
    }

    /// Where it stands, asked of the device: it may have failed by itself.
    public State state() {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment attributes = scratch.allocate(VerbsLayouts.QP_ATTR);
            final MemorySegment initial = scratch.allocate(VerbsLayouts.QP_INIT_ATTR);
            verbs().require("ibv_query_qp", this, pointer(), attributes, IBV_QP_STATE, initial);
            return VerbsLayouts.valueOf(State.values(), attributes.get(JAVA_INT, at("qp_state")));
        }
    }

    /// Receives datagrams to a group, beside those to the queue pair. On RoCE the network interface must be a
    /// member too ([GroupMembership]), or nothing comes, without an error.
    ///
    /// @param group its GID; on RoCE v2 that of the address ([Gid#ofAddress])
    /// @param lid its local identifier, which the subnet manager gives on InfiniBand; 0 on RoCE
    /// @throws IllegalArgumentException unless it is a group, and on an Ethernet port for `ff0e::ffff:a.b.c.d`:
    ///     over RoCE v2 that group of IPv4 is `::ffff:a.b.c.d`, and nothing would come, without an error
    public MulticastAttachment attach(final Gid group, final int lid) {
        if (!group.isMulticast()) {
            throw new IllegalArgumentException("queue pair: expected a group's GID, got " + group);
        }
        if (group.isIpv4GroupOfRoceV1()
                && domain.context().port(port).linkLayer() == PortAttributes.LinkLayer.ETHERNET) {
            throw new IllegalArgumentException("queue pair: expected " + group.toRoceV2()
                    + ", as RoCE v2 has that group of IPv4, got " + group + ", by which nothing would come");
        }
        return MulticastAttachment.attach(this, group, lid);
    }

    int postReceives(final long first, final long refused) {
        requireOpen();
        return Downcalls.hot(postReceive, address(), first, refused);
    }

    int postSends(final long first, final long refused) {
        requireOpen();
        return Downcalls.hot(postSend, address(), first, refused);
    }

    private static long at(final String... path) {
        return VerbsLayouts.offset(VerbsLayouts.QP_ATTR, path);
    }

    private static long extended(final String name) {
        return VerbsLayouts.offset(VerbsLayouts.QP_INIT_ATTR_EX, name);
    }

    private static long initial(final String... path) {
        return VerbsLayouts.offset(VerbsLayouts.QP_INIT_ATTR, path);
    }
}
