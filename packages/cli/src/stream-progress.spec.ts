import { StreamProgress } from './stream-progress.js';

describe('progress', () => {
  let [written, time] = ['', 0];
  const progressOn = (isTTY: boolean, columns = 80) => {
    [written, time] = ['', 0];
    const stream = { isTTY, columns, write: (text: string) => (written += text) };
    return new StreamProgress(stream as unknown as NodeJS.WriteStream, () => time);
  };

  it('is a bar on a terminal, which disappears at the end', () => {
    const progress = progressOn(true);
    progress.begin('Sending', 4, 4000);
    time = 200;
    progress.advance(1, 1000);
    expect(written).toBe(
      `\r${'█'.repeat(6)}${'░'.repeat(18)}  25%  Sending 1 of 4 files, 1.0 kB of 4.0 kB\u001b[K`,
    );
    progress.end();
    expect(written.endsWith('\r\u001b[K')).toBe(true);
  });

  it('does not wrap on a narrow terminal', () => {
    const progress = progressOn(true, 20);
    progress.begin('Sending', 4, 4000);
    time = 200;
    progress.advance(1, 1000);
    expect(written.replace('\r', '').replace('\u001b[K', '')).toHaveLength(19);
  });

  it('is a plain line every few seconds elsewhere, and nothing for short work', () => {
    const progress = progressOn(false);
    progress.begin('Receiving', 2000, 2_000_000);
    progress.advance(500, 500_000);
    expect(written).toBe('');
    time = 6_000;
    progress.advance(500, 500_000);
    time = 7_000;
    progress.advance(500, 500_000);
    progress.end();
    expect(written).toBe('Receiving 1,000 of 2,000 files, 1.0 MB of 2.0 MB\n');
  });
});
