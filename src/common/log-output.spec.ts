import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LogOutput } from './log-output.js';

const LINE = `${JSON.stringify({ msg: 'x'.repeat(1_000) })}\n`;
const { O_RDWR, O_WRONLY, O_NONBLOCK } = constants;

describe('the log output', () => {
  let directory: string;
  const open: number[] = [];
  const opened = (path: string, flags: string | number): number => {
    const fd = openSync(path, flags);
    open.push(fd);
    return fd;
  };
  /** A named pipe, opened for reading and writing so that the open never blocks. */
  const newPipe = (): string => {
    const path = join(directory, 'pipe');
    execFileSync('mkfifo', [path]);
    return path;
  };
  beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'patchbay-log-'))));
  afterEach(() => {
    for (const fd of open.splice(0)) closeSync(fd);
    rmSync(directory, { recursive: true, force: true });
  });

  it('writes each line once and in order, including lines that arrive during a write', async () => {
    const path = join(directory, 'log');
    const log = new LogOutput(opened(path, 'a'));
    const lines = Array.from({ length: 1_000 }, (_, n) => `${n}\n`);
    for (const line of lines.slice(0, 500)) log.write(line);
    await sleep(10);
    for (const line of lines.slice(500, 900)) log.write(line);
    while (readFileSync(path, 'utf8').split('\n').length <= 900) await sleep(5);
    for (const line of lines.slice(900)) log.write(line);
    await sleep(50);
    log.flush();
    expect(readFileSync(path, 'utf8')).toBe(lines.join(''));
  });

  it('drops lines while a pipe is full, and reports their number once it is read again', async () => {
    const path = newPipe();
    const reader = opened(path, O_RDWR | O_NONBLOCK);
    const log = new LogOutput(opened(path, O_WRONLY | O_NONBLOCK));
    const count = 12_000;
    for (let n = 0; n < count; n += 1) log.write(LINE);
    let text = '';
    const buffer = Buffer.alloc(1024 * 1024);
    const readAll = async (until: () => boolean): Promise<void> => {
      while (!until()) {
        try {
          text += buffer.toString('utf8', 0, readSync(reader, buffer));
        } catch {
          await sleep(5);
        }
      }
    };
    const whole = (): string[] => text.split(LINE);
    await readAll(() => whole().length > 8_000);
    await sleep(200);
    log.write('{"msg":"last"}\n');
    await readAll(() => text.endsWith('{"msg":"last"}\n'));
    const account = text.split('\n').find((line) => line.includes('Log lines were dropped'))!;
    const { level, dropped, reason } = JSON.parse(account) as Record<string, unknown>;
    expect({ level, reason }).toEqual({ level: 40, reason: 'too slow' });
    expect(Number(dropped) + whole().length - 1).toBe(count);
    expect(text.match(/were dropped/g)).toHaveLength(1);
  });
});
