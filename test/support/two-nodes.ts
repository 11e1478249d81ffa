import { jest } from '@jest/globals';
import type { Settings } from '../../src/config/config.js';
import type { Bus } from '../../src/events/bus.js';
import { type Line, TestNodes } from './nodes.js';
import { checkInvariants } from './invariants.js';
import { RelayFixture } from './relay-fixture.js';
import type { TestServer } from './server.js';

const MIB = 1024 * 1024;
const SETTINGS: Partial<Settings> = {
  ...{ graceMs: 300, catchUpMs: 250, fileReadMs: 500, maxFileBytes: MIB },
};

/** One user on two nodes over one store: `a` and `b` are the same fixture, seen from each of them. */
export class TwoNodes {
  a!: RelayFixture;
  b!: RelayFixture;

  private constructor(
    readonly nodes: TestNodes,
    readonly servers: { a: TestServer; b: TestServer },
    private readonly line: Line,
  ) {}

  /** @param busOf the bus of each node; null: that of the test's network. */
  static async open(
    line: Line,
    settings: Partial<Settings> = SETTINGS,
    busOf: (() => Bus) | null = null,
  ): Promise<TwoNodes> {
    const nodes = await TestNodes.open(settings, busOf);
    return new TwoNodes(nodes, { a: await nodes.start('a'), b: await nodes.start('b') }, line);
  }

  /** A new user, with a workspace and a session, for the next test. */
  async begin(): Promise<void> {
    const { network } = this.nodes;
    network.line = 'sound';
    this.a = await RelayFixture.on(this.servers.a, await this.servers.a.register());
    this.b = this.a.movedTo(this.servers.b);
    network.line = this.line;
  }

  /** Ends the clients, after the invariants were checked. */
  async end(): Promise<void> {
    try {
      for (const server of this.nodes.running) {
        const { user, workspaceId } = this.a.movedTo(server);
        await checkInvariants(user, workspaceId);
      }
    } finally {
      for (const client of [...this.a.clients, ...this.b.clients]) client.close();
    }
  }

  /** Whether no node was stopped or started since, and no time passed but real one. */
  get isAsBegun(): boolean {
    const { running, clock } = this.nodes;
    const { a, b } = this.servers;
    return running.size === 2 && running.has(a) && running.has(b) && clock.aheadMs === 0;
  }
}

/**
 * Two nodes for the tests of a `describe`, each of which has a user of its own there. A test may stop and start nodes, and
 * let time pass: then the next one gets others. What it has spied on is let go.
 */
export function onTwoNodes(line: Line = 'sound'): () => TwoNodes {
  let two: TwoNodes | null = null;
  const close = async (): Promise<void> => {
    const open = two;
    two = null;
    await open?.nodes.close();
  };
  beforeEach(async () => {
    two ??= await TwoNodes.open(line);
    await two.begin();
  });
  afterEach(async () => {
    try {
      await two!.end();
    } finally {
      jest.restoreAllMocks();
      if (!two!.isAsBegun) await close();
    }
  });
  afterAll(close);
  return () => two!;
}
