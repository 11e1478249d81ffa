import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { rm } from 'node:fs/promises';
import type { DestinationStream } from 'pino';
import { createApp } from '../../src/bootstrap.js';
import type { SystemClock } from '../../src/common/clock.js';
import { Config, type Settings } from '../../src/config/config.js';
import { storesOf } from '../contract/backends.js';
import { putOnBadLine } from '../contract/faults.js';
import { backendSettings } from './backend.js';
import { newDataDirectory } from './data-directory.js';
import { expectCleanLog, watchedLog } from './log-watch.js';
import type { QueryPlans } from './query-plans.js';
import { type Answer, answerOf, registerUser, sendRequest, type TestUser } from './test-user.js';

export { type Answer, PASSWORD, type TestUser } from './test-user.js';

export interface ServerOptions {
  config?: Partial<Settings>;
  clock?: SystemClock;
  logDestination?: DestinationStream;
  /**
   * A seed puts the server's stores at the far end of a bad line: calls delayed, out of order, each write sent twice.
   * BAD_LINE=<seed> does it to the server of every test.
   */
  badLine?: number;
}

const { BAD_LINE } = process.env;
/** What every test has unless it says otherwise: a log that is checked, open registration, no limits, and passwords that cost next to nothing. */
export const TEST_SETTINGS: Partial<Settings> = {
  logLevel: 'info',
  registration: 'open',
  rateLimit: null,
  passwordCost: 4,
};

/** Those of the servers of this file that the database has explained. */
const KNOWN_QUERIES = new Set<string>();

/** Without a word of MongoDB where nothing is on it: mongoose takes its time to load. */
async function plansOf(app: NestFastifyApplication): Promise<QueryPlans> {
  const { QueryPlans } = await import('./query-plans.js');
  return QueryPlans.of(app);
}

/** The real server in this process, on a free port, over a data directory of its own. */
export class TestServer {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly url: string,
    readonly dataDir: string,
    private readonly ownsDataDir: boolean,
    private readonly plans: QueryPlans | null = null,
  ) {}

  /** Pass `config.dataDir` to start over what another server has left. */
  static async start({
    config = {},
    clock,
    logDestination,
    badLine,
  }: ServerOptions = {}): Promise<TestServer> {
    const dataDir = config.dataDir ?? (await newDataDirectory());
    const backend = backendSettings(dataDir);
    const settings = Config.with({
      ...TEST_SETTINGS,
      ...backend,
      ...config,
      dataDir,
      port: 0,
    });
    const app = await createApp({ config: settings, clock, logDestination: watchedLog(logDestination) });
    const seed = badLine ?? BAD_LINE;
    if (seed) putOnBadLine(storesOf(app), Number(seed));
    await app.listen(0, '127.0.0.1');
    const url = `${await app.getUrl()}${settings.basePath}`;
    const isWatched = backend.mongodbUri !== undefined && settings.mongodbUri === backend.mongodbUri;
    const plans = isWatched ? await plansOf(app) : null;
    return new TestServer(app, url, dataDir, config.dataDir === undefined, plans);
  }

  /** Around an app that a test has put together itself. */
  static async around(app: NestFastifyApplication, dataDir: string): Promise<TestServer> {
    await app.listen(0, '127.0.0.1');
    return new TestServer(app, await app.getUrl(), dataDir, false);
  }

  /** On MongoDB it fails where the server has asked what no index serves. */
  async close(): Promise<void> {
    try {
      await this.plans?.check(KNOWN_QUERIES);
    } finally {
      await this.app.close();
      if (this.ownsDataDir) await rm(this.dataDir, { recursive: true, force: true });
    }
    expectCleanLog();
  }

  /** Registers a new user, with an email of their own unless one is given. */
  register(email?: string, fullName?: string): Promise<TestUser> {
    return registerUser(this, email, fullName);
  }

  /** Sends `body` as JSON to a path behind /api/v1; strings and bytes as they are. */
  request<T = unknown>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    return sendRequest<T>(this.url, method, path, body, headers);
  }

  /** A GET outside /api/v1. */
  async get<T = unknown>(path: string): Promise<Answer<T>> {
    return answerOf<T>('GET', await fetch(`${this.url}${path}`));
  }
}

/** One server for all tests of a file, or of the `describe` that calls it; each has a user and a workspace of its own. */
export function oneServer(config: Partial<Settings> = {}): () => TestServer {
  let server: TestServer;
  beforeAll(async () => void (server = await TestServer.start({ config })));
  afterAll(() => server.close());
  return () => server;
}

/** Starts the server for a test; close it in `afterAll` or `afterEach`. */
export function startTestServer(options: ServerOptions = {}): Promise<TestServer> {
  return TestServer.start(options);
}
