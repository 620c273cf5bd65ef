package io.framecast.engine.aeron;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.exceptions.AeronException;
import io.aeron.exceptions.RegistrationException;
import io.framecast.api.error.TransportException;
import org.jspecify.annotations.Nullable;

/// A publication that the driver may still be opening: the request goes out at once, and the lane goes on
/// meanwhile. Only the lane's thread uses it.
final class Outbound implements AutoCloseable {
    private final Aeron client;
    private final long registrationId;
    private @Nullable ExclusivePublication publication;
    private @Nullable String refusal;

    Outbound(final Aeron client, final String channel, final int streamId) {
        this.client = client;
        try {
            registrationId = client.asyncAddExclusivePublication(channel, streamId);
        } catch (final AeronException e) {
            throw new TransportException(
                    "aeron: the media driver is gone (" + Notices.firstLine(e) + "); open the transport anew", e);
        }
    }

    /// The publication, or null while the driver has not answered, and for good once it refused.
    ///
    /// @throws TransportException when the driver is gone
    @Nullable
    ExclusivePublication poll() {
        if (publication == null && refusal == null) {
            try {
                publication = client.getExclusivePublication(registrationId);
            } catch (final RegistrationException e) {
                refusal = Notices.firstLine(e);
            } catch (final AeronException e) {
                throw new TransportException(
                        "aeron: the media driver is gone (" + Notices.firstLine(e) + "); open the transport anew", e);
            }
        }
        return publication;
    }

    /// Why the driver refused; null while it has not.
    @Nullable
    String refusal() {
        return refusal;
    }

    /// The publication, or null where [#poll] has not found it yet.
    @Nullable
    ExclusivePublication published() {
        return publication;
    }

    /// The driver sends the accepted datagrams before it drops the publication.
    @Override
    public void close() {
        if (publication != null) {
            publication.close();
        } else if (refusal == null && !client.isClosed()) {
            client.asyncRemovePublication(registrationId);
        }
    }
}
