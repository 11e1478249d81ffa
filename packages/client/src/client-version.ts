import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Version of this package, told to the server in the handshake unless the client says its own. */
export const CLIENT_VERSION = manifest.version;
