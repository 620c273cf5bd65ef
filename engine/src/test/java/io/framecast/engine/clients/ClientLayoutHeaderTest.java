package io.framecast.engine.clients;

import io.framecast.engine.libc.CHeader;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/// The layout of publishers in `clients/c` is written from [ClientLayout].
final class ClientLayoutHeaderTest {
    @Test
    void shouldAgreeWithTheHeaderOfTheCClient() throws IOException, IllegalAccessException {
        new CHeader(
                        "clients/c/src/client_layout.h",
                        "Written by ClientLayoutHeaderTest.java from ClientLayout.java.",
                        "FC_CLIENT_LAYOUT_H",
                        "FC_CLIENT_")
                .defineAll(ClientLayout.class, "")
                .shouldBeWritten();
    }
}
