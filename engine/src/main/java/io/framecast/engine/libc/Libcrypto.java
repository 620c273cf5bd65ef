package io.framecast.engine.libc;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/// Mirrors calls of libcrypto 3 (OpenSSL), whose manual pages have the names given at each. Results are as in C.
///
/// The calls work on memory alone and take microseconds, so they leave the thread's state as it is; memory that a call
/// reads or writes must stay open until it returns. A context is one thread's at a time.
///
/// Loading this class fails with a [LinkageError] where the library is absent: ask [#isPresent] first.
public final class Libcrypto {
    private static final String LIBRARY = "libcrypto.so.3";
    private static final int CTRL_GET_TAG = 0x10;
    private static final int CTRL_SET_TAG = 0x11;
    // NID_X25519 of obj_mac.h.
    private static final int X25519 = 1034;
    private static final Linker LINKER = Linker.nativeLinker();
    // As in Libc: six words in, one out.
    private static final MethodHandle CALL = LINKER.downcallHandle(
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
            Linker.Option.critical(false));
    private static final SymbolLookup LOOKUP = SymbolLookup.libraryLookup(LIBRARY, Arena.global());
    private static final MemorySegment CIPHER_FETCH = find("EVP_CIPHER_fetch");
    private static final MemorySegment CIPHER_FREE = find("EVP_CIPHER_free");
    private static final MemorySegment CONTEXT_NEW = find("EVP_CIPHER_CTX_new");
    private static final MemorySegment CONTEXT_FREE = find("EVP_CIPHER_CTX_free");
    private static final MemorySegment CONTEXT_CTRL = find("EVP_CIPHER_CTX_ctrl");
    private static final MemorySegment INIT = find("EVP_CipherInit_ex2");
    private static final MemorySegment ENCRYPT_UPDATE = find("EVP_EncryptUpdate");
    private static final MemorySegment ENCRYPT_FINAL = find("EVP_EncryptFinal_ex");
    private static final MemorySegment DECRYPT_UPDATE = find("EVP_DecryptUpdate");
    private static final MemorySegment DECRYPT_FINAL = find("EVP_DecryptFinal_ex");
    private static final MemorySegment PRIVATE_KEY = find("EVP_PKEY_new_raw_private_key");
    private static final MemorySegment PUBLIC_KEY = find("EVP_PKEY_new_raw_public_key");
    private static final MemorySegment READ_PUBLIC_KEY = find("EVP_PKEY_get_raw_public_key");
    private static final MemorySegment KEY_FREE = find("EVP_PKEY_free");
    private static final MemorySegment KEY_CONTEXT_NEW = find("EVP_PKEY_CTX_new");
    private static final MemorySegment KEY_CONTEXT_FREE = find("EVP_PKEY_CTX_free");
    private static final MemorySegment DERIVE_INIT = find("EVP_PKEY_derive_init");
    private static final MemorySegment DERIVE_SET_PEER = find("EVP_PKEY_derive_set_peer");
    private static final MemorySegment DERIVE = find("EVP_PKEY_derive");

    private Libcrypto() {}

    private static MemorySegment find(final String name) {
        return LOOKUP.findOrThrow(name);
    }

    /// Whether this system has the library, with all calls.
    public static boolean isPresent() {
        return Present.YES;
    }

    private static final class Present {
        static final boolean YES = probe();

        private static boolean probe() {
            try {
                return CIPHER_FETCH.address() != 0;
            } catch (final LinkageError | RuntimeException e) {
                return false;
            }
        }
    }

    private static long call(
            final MemorySegment function,
            final long a,
            final long b,
            final long c,
            final long d,
            final long e,
            final long f) {
        try {
            return (long) CALL.invokeExact(function, a, b, c, d, e, f);
        } catch (final Throwable t) {
            throw new AssertionError(t);
        }
    }

    private static boolean succeeds(final long result) {
        // An int, in half of the register.
        return (int) result > 0;
    }

    /// EVP_CIPHER_fetch: a cipher by its name, such as `AES-256-GCM`.
    ///
    /// @return 0 where the library has none of this name
    public static long fetchCipher(final String name) {
        try (Arena arena = Arena.ofConfined()) {
            return call(CIPHER_FETCH, 0, arena.allocateFrom(name).address(), 0, 0, 0, 0);
        }
    }

    /// EVP_CIPHER_free.
    public static void freeCipher(final long cipher) {
        call(CIPHER_FREE, cipher, 0, 0, 0, 0, 0);
    }

    /// EVP_CIPHER_CTX_new.
    ///
    /// @return 0 where no memory is left
    public static long newContext() {
        return call(CONTEXT_NEW, 0, 0, 0, 0, 0, 0);
    }

    /// EVP_CIPHER_CTX_free, which also wipes the key.
    public static void freeContext(final long context) {
        call(CONTEXT_FREE, context, 0, 0, 0, 0, 0);
    }

    /// EVP_CipherInit_ex2.
    ///
    /// @param cipher 0: the one before
    /// @param key its address; 0: the one before
    /// @param nonce its address
    public static boolean init(
            final long context, final long cipher, final long key, final long nonce, final boolean encrypts) {
        return succeeds(call(INIT, context, cipher, key, nonce, encrypts ? 1 : 0, 0));
    }

    /// EVP_EncryptUpdate and EVP_DecryptUpdate.
    ///
    /// @param to 0: the bytes are associated data
    /// @param written where the length of the output goes, an int
    public static boolean update(
            final long context,
            final boolean encrypts,
            final long to,
            final long written,
            final long from,
            final int bytes) {
        return succeeds(call(encrypts ? ENCRYPT_UPDATE : DECRYPT_UPDATE, context, to, written, from, bytes, 0));
    }

    /// EVP_EncryptFinal_ex and EVP_DecryptFinal_ex, which write nothing where the cipher is an AEAD.
    ///
    /// @return of decryption: whether the tag is that of the bytes
    public static boolean finish(final long context, final boolean encrypts, final long to, final long written) {
        return succeeds(call(encrypts ? ENCRYPT_FINAL : DECRYPT_FINAL, context, to, written, 0, 0, 0));
    }

    /// EVP_CTRL_AEAD_GET_TAG, behind [#finish].
    public static boolean readTag(final long context, final long tag, final int bytes) {
        return succeeds(call(CONTEXT_CTRL, context, CTRL_GET_TAG, bytes, tag, 0, 0));
    }

    /// EVP_CTRL_AEAD_SET_TAG, in front of [#finish].
    public static boolean writeTag(final long context, final long tag, final int bytes) {
        return succeeds(call(CONTEXT_CTRL, context, CTRL_SET_TAG, bytes, tag, 0, 0));
    }

    /// EVP_PKEY_new_raw_private_key, of X25519.
    ///
    /// @param key address of its 32 bytes
    /// @return 0 where the library refuses it
    public static long newPrivateKey(final long key) {
        return call(PRIVATE_KEY, X25519, 0, key, 32, 0, 0);
    }

    /// EVP_PKEY_new_raw_public_key, of X25519.
    ///
    /// @param key address of its 32 bytes
    /// @return 0 where the library refuses it
    public static long newPublicKey(final long key) {
        return call(PUBLIC_KEY, X25519, 0, key, 32, 0, 0);
    }

    /// EVP_PKEY_get_raw_public_key.
    ///
    /// @param to address of memory for it
    /// @param length address of that memory's length, a long
    public static boolean readPublicKey(final long key, final long to, final long length) {
        return succeeds(call(READ_PUBLIC_KEY, key, to, length, 0, 0, 0));
    }

    /// EVP_PKEY_free, which also wipes it.
    public static void freeKey(final long key) {
        call(KEY_FREE, key, 0, 0, 0, 0, 0);
    }

    /// EVP_PKEY_CTX_new, EVP_PKEY_derive_init, EVP_PKEY_derive_set_peer and EVP_PKEY_derive.
    ///
    /// @param to address of memory for the secret
    /// @param length address of that memory's length, a long
    /// @return false where the library refuses the keys, or the secret is all zeros
    public static boolean derive(final long key, final long peer, final long to, final long length) {
        final long context = call(KEY_CONTEXT_NEW, key, 0, 0, 0, 0, 0);
        if (context == 0) {
            return false;
        }
        final boolean derived = succeeds(call(DERIVE_INIT, context, 0, 0, 0, 0, 0))
                && succeeds(call(DERIVE_SET_PEER, context, peer, 0, 0, 0, 0))
                && succeeds(call(DERIVE, context, to, length, 0, 0, 0));
        call(KEY_CONTEXT_FREE, context, 0, 0, 0, 0, 0);
        return derived;
    }
}
