import { setTimeout as quiet } from 'node:timers/promises';

const CTRL_C = '\u0003';

/**
 * Drops what was typed, until nothing has come for so long, in ms; true where there was something. A terminal holds a
 * line back until Enter, and hands over what it has of it once it is read key by key.
 * @throws the signal's reason
 */
export async function dropTyped(
  input: NodeJS.ReadableStream,
  quietMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const terminal = 'setRawMode' in input ? (input as NodeJS.ReadStream) : null;
  let [isDropped, isQuiet] = [false, false];
  const take = (chunk: Buffer | string) => {
    [isDropped, isQuiet] = [true, false];
    // Read key by key, it is no signal.
    if (String(chunk).includes(CTRL_C)) process.kill(process.pid, 'SIGINT');
  };
  terminal?.setRawMode(true);
  input.on('data', take).resume();
  try {
    while (!isQuiet) {
      isQuiet = true;
      // What is no terminal holds nothing back.
      await quiet(terminal ? quietMs : 0, undefined, { signal });
    }
  } catch {
    signal.throwIfAborted();
  } finally {
    input.off('data', take).pause();
    terminal?.setRawMode(false);
  }
  return isDropped;
}
