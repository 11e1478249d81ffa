import type { Ack, FileReadAnswer } from '@patchbay/protocol';
import { readGate } from './read-gate.js';

describe('readGate', () => {
  it('reads four files at a time, queues sixteen, and refuses more', async () => {
    const open: (() => void)[] = [];
    let most = 0;
    let reading = 0;
    const given: Ack<FileReadAnswer> = {
      ...{ ok: true, content: Buffer.from(''), sha256: '', isDirty: false, source: 'disk' },
    };
    const read = readGate(async () => {
      most = Math.max(most, ++reading);
      await new Promise<void>((resolve) => open.push(resolve));
      reading -= 1;
      return given;
    });
    const answers = Array.from({ length: 30 }, () => read({ docPath: 'p/a', maxBytes: 1 }));
    const codes = answers.map(async (answer) => {
      const ack = await answer;
      return ack.ok ? 'given' : ack.error.code;
    });
    for (let ended = 0; ended < 20; ended += 1) {
      while (open.length === 0) await new Promise(setImmediate);
      open.shift()!();
    }
    const counts = (await Promise.all(codes)).filter((code) => code === 'given');
    expect([most, counts.length]).toEqual([4, 20]);
    expect((await Promise.all(codes)).at(-1)).toBe('RATE_LIMITED');
  });
});
