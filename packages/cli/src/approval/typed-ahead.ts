import { setTimeout as quiet } from 'node:timers/promises';

const CTRL_C = '\u0003';

/**
 * Drops typed input until none has come for `quietMs`; true if there was some. A terminal holds back a line until
 * Enter, and hands it over once it is read key by key.
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
    // Read key by key, Ctrl-C raises no signal.
    if (String(chunk).includes(CTRL_C)) process.kill(process.pid, 'SIGINT');
  };
  terminal?.setRawMode(true);
  input.on('data', take).resume();
  try {
    while (!isQuiet) {
      isQuiet = true;
      // Only a terminal holds input back.
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
