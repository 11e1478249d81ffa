/** Version of this package. The handshake sends it unless the client gives its own. */
export const CLIENT_VERSION = '0.1.0';
