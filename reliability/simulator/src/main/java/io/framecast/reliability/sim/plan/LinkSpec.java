package io.framecast.reliability.sim.plan;

/// The treatment of datagrams in one direction between the source and a receiver. Probabilities are per datagram,
/// 0 … 1.
///
/// @param loss a datagram vanishes
/// @param burst a run of losses begins, of 2 … 12 datagrams
/// @param duplicate it arrives twice
/// @param reorder it is held back by up to eight times delay and jitter, so that others overtake it
/// @param corrupt a bit of its header flips, or it is cut short
/// @param clog the link stops for a while and then delivers everything at once
/// @param delayNs least time under way
/// @param jitterNs most time added to that, without changing the order
/// @param queueDatagrams datagrams that the receiving end holds per lane until it takes them; further ones are
///     lost
public record LinkSpec(
        double loss,
        double burst,
        double duplicate,
        double reorder,
        double corrupt,
        double clog,
        long delayNs,
        long jitterNs,
        int queueDatagrams) {
    /// Nothing goes wrong; 50 µs.
    public static final LinkSpec CLEAN = new LinkSpec(0, 0, 0, 0, 0, 0, 50_000, 5_000, 4096);

    /// Only single losses.
    public static LinkSpec lossy(final double loss) {
        return CLEAN.withLoss(loss);
    }

    public LinkSpec withLoss(final double value) {
        return new LinkSpec(value, burst, duplicate, reorder, corrupt, clog, delayNs, jitterNs, queueDatagrams);
    }

    public LinkSpec withQueue(final int datagrams) {
        return new LinkSpec(loss, burst, duplicate, reorder, corrupt, clog, delayNs, jitterNs, datagrams);
    }
}
