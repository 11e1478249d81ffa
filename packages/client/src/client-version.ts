/** Version of this package, told to the server in the handshake unless the client says its own. */
export const CLIENT_VERSION = '0.1.0';
