import { readFile } from 'node:fs/promises';
import { openAdmin } from './admin.js';
import { answersAbout } from './all-answers.js';
import { checkInvariants } from './invariants.js';
import type { RelayFixture } from './relay-fixture.js';
import { startTestServer, type TestServer } from './server.js';
import { waitFor } from './wait-for.js';

const JWT_SECRET = 'a secret that both servers have, long enough to be one';

export interface Trailer {
  kinds: Record<string, { records: number; sha256: string }>;
}

/** A server over either store, with the secret that both have. */
export const serverOn = (dataDir: string, mongodbUri: string | null): Promise<TestServer> =>
  startTestServer({ config: { dataDir, mongodbUri, jwtSecret: JWT_SECRET, deliveryMs: 3_600_000 } });
/** The last line of an export. */
export const trailerOf = async (file: string): Promise<Trailer> =>
  JSON.parse((await readFile(file, 'utf8')).trimEnd().split('\n').at(-1)!) as Trailer;
export const containing = (text: string) => expect.stringContaining(text) as string;

/** What a server over a store answers about the workspace. */
export async function lookAt(
  fixture: RelayFixture,
  dataDir: string,
  mongodbUri: string | null,
): Promise<Record<string, unknown>> {
  const server = await serverOn(dataDir, mongodbUri);
  try {
    const there = fixture.movedTo(server);
    await checkInvariants(there.user, there.workspaceId);
    return await answersAbout(there);
  } finally {
    await server.close();
  }
}

/** Imports from a stdin that has the beginning of an export and no end, and is killed there. */
export async function killedImport(file: string, args: string[], env: Record<string, string>): Promise<void> {
  const importing = openAdmin(['import', '-', ...args], env);
  let output = '';
  importing.stderr.on('data', (text: Buffer) => (output += text.toString()));
  const ended = new Promise((resolve) => importing.once('close', resolve));
  const whole = await readFile(file);
  importing.stdin.on('error', () => undefined).write(whole.subarray(0, whole.indexOf('{"kind":"turns"')));
  await waitFor(() => /imported \d+ versions/.test(output), `versions to be imported: ${output}`);
  importing.kill('SIGKILL');
  await ended;
}
