package io.framecast.samples.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.samples.network.NamespaceNeeds.Tool;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class NamespaceNeedsTest {
    private static final String ROOT = "Name:\tjava\nCapEff:\t000001ffffffffff\n";

    @TempDir
    private Path folder;

    @Test
    void shouldNameEachToolThatIsMissingAndItsPackage() throws Exception {
        final Path ip = Files.createFile(folder.resolve("ip"));
        assertTrue(ip.toFile().setExecutable(true));
        Files.createFile(folder.resolve("nft"));
        final String path = "/nowhere" + File.pathSeparator + File.pathSeparator + folder;
        assertEquals("", NamespaceNeeds.missing(path, ROOT, Tool.IP));
        assertEquals(
                "no tc, nft on the PATH: install iproute2, nftables",
                NamespaceNeeds.missing(path, ROOT, Tool.IP, Tool.TC, Tool.NFT));
        assertEquals("no ip, tc on the PATH: install iproute2", NamespaceNeeds.missing("", ROOT, Tool.IP, Tool.TC));
    }

    @Test
    void shouldNameTheCapabilitiesThatAreMissing() {
        assertEquals(
                "no CAP_SYS_ADMIN, CAP_NET_ADMIN: run as root",
                NamespaceNeeds.missing("", "CapEff:\t0000000000000000\n"));
        assertEquals("no CAP_SYS_ADMIN: run as root", NamespaceNeeds.missing("", "CapEff:\t0000000000001000\n"));
        assertEquals(
                "no ip on the PATH: install iproute2; no CAP_NET_ADMIN: run as root",
                NamespaceNeeds.missing("", "CapEff:\t0000000000200000\n", Tool.IP));
        assertEquals("", NamespaceNeeds.missing("", ""), "a system without /proc proves nothing");
    }
}
