import { type Line, TestNodes } from './nodes.js';
import { checkInvariants } from './invariants.js';
import { RelayScene } from './relay-scene.js';
import type { TestServer } from './server.js';

/** One user on two nodes over one store: `a` and `b` are the same scene, seen from each of them. */
export class TwoNodes {
  private constructor(
    readonly nodes: TestNodes,
    readonly servers: { a: TestServer; b: TestServer },
    readonly a: RelayScene,
    readonly b: RelayScene,
  ) {}

  static async open(line: Line = 'sound'): Promise<TwoNodes> {
    const nodes = await TestNodes.open({ graceMs: 300, catchUpMs: 250, fileReadMs: 500 });
    const servers = { a: await nodes.start('a'), b: await nodes.start('b') };
    const a = await RelayScene.on(servers.a, await servers.a.register());
    nodes.network.line = line;
    return new TwoNodes(nodes, servers, a, a.movedTo(servers.b));
  }

  async close(): Promise<void> {
    try {
      for (const server of this.nodes.running) {
        const { user, workspaceId } = this.a.movedTo(server);
        await checkInvariants(user, workspaceId);
      }
    } finally {
      for (const client of [...this.a.clients, ...this.b.clients]) client.close();
      await this.nodes.close();
    }
  }
}
