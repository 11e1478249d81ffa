import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KINDS } from '../../../src/storage/move/records.js';
import { aDatabaseOn, MONGO_SERVER } from '../../support/mongo-server.js';
import { startTestServer } from '../../support/server.js';
import { describeAtTerminal, Terminal } from '../../support/terminal.js';

const ADMIN = fileURLToPath(new URL('../../../dist/admin.js', import.meta.url));
const describeHere = MONGO_SERVER === undefined ? describe.skip : describeAtTerminal;

describeHere('Who migrates at a terminal', () => {
  it('sees a bar for each kind of records, drawn over itself, and the outcome below', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-migrate-'));
    const database = aDatabaseOn(MONGO_SERVER!);
    const server = await startTestServer({ config: { dataDir, mongodbUri: null } });
    await server.register();
    await server.close();
    const command = [process.execPath, ADMIN, 'migrate', '--to', database.uri];
    const terminal = Terminal.run(command, { rows: 60, env: { PATCHBAY_DATA_DIR: dataDir } });
    try {
      expect(await terminal.exited).toEqual({ code: 0, signal: null });
      expect(terminal.raw).toMatch(/\[#+ +\] moved 1 of 2 users/);
      const full = '#'.repeat(24);
      const bars = terminal.screen.all.filter((line) => /^\[[# ]+\]/.test(line));
      expect(bars).toHaveLength(2 * Object.keys(KINDS).length);
      for (const step of ['moved', 'verified']) expect(bars).toContain(`[${full}] ${step} 1 of 1 users`);
      expect(terminal.screen.all.join('')).toContain('moved and verified; 1 users');
    } finally {
      await terminal.close();
      await database.drop();
      await rm(dataDir, { recursive: true });
    }
  }, 60_000);
});
