import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWhere } from './describe-where.js';
import { listens } from './listens.js';
import { freePort } from './processes.js';
import { waitFor } from './wait-for.js';

/**
 * Starts a MongoDB-compatible server, `KIND PORT DIR`, that is built already: building one takes minutes, so that a run has
 * to name the script.
 */
const script = process.env.PATCHBAY_TEST_MONGO_SCRIPT;

/** Tests that end a database of their own. Where no script is named, the first line of the run says so. */
export const describeOnOwnMongo = describeWhere(Boolean(script));

/** A database server of a test's own, which it may kill and start again over the same files. */
export class OwnMongo {
  private child: ChildProcess | null = null;

  private constructor(
    private readonly kind: string,
    private readonly port: number,
    private readonly directory: string,
  ) {}

  static async start(kind: 'secantus' | 'javaserver-h2'): Promise<OwnMongo> {
    const directory = await mkdtemp(join(tmpdir(), `patchbay-${kind}-`));
    const mongo = new OwnMongo(kind, await freePort(), directory);
    await mongo.start();
    return mongo;
  }

  get uri(): string {
    return `mongodb://127.0.0.1:${this.port}/patchbay`;
  }

  /** Resolves once it listens. */
  async start(): Promise<void> {
    const files = join(this.directory, 'data');
    this.child = spawn('bash', [script!, this.kind, String(this.port), files], { stdio: 'ignore' });
    await waitFor(() => listens(this.port), `${this.kind} to listen`, 60_000);
  }

  /** kill -9: the script has become the server. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Ends it and removes its files. */
  async close(): Promise<void> {
    await this.kill();
    await rm(this.directory, { recursive: true, force: true });
  }
}
