import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KINDS } from '../../../src/storage/transfer/records.js';
import { ADMIN } from '../../support/admin.js';
import { startTestServer } from '../../support/server.js';
import { describeAtTerminal, Terminal } from '../../support/terminal.js';

describeAtTerminal('A person who exports at a terminal', () => {
  it('sees a line for each kind of records, and the outcome below', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-transfer-'));
    const server = await startTestServer({ config: { dataDir, mongodbUri: null } });
    await server.register();
    await server.close();
    const command = [process.execPath, ADMIN, 'export', join(dataDir, 'all.ndjson')];
    const terminal = Terminal.run(command, { rows: 60, env: { PATCHBAY_DATA_DIR: dataDir } });
    try {
      expect(await terminal.exited).toEqual({ code: 0, signal: null });
      const lines = terminal.screen.all.filter((line) => line.startsWith('exported '));
      expect(lines).toHaveLength(Object.keys(KINDS).length);
      expect(lines).toContain('exported 1 users');
      expect(terminal.screen.all.join('')).toContain('all.ndjson: exported 0 workspaces, ');
    } finally {
      await terminal.close();
      await rm(dataDir, { recursive: true });
    }
  }, 60_000);
});
