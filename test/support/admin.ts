import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { TestProcess } from './processes.js';

export const ADMIN = fileURLToPath(new URL('../../dist/admin.js', import.meta.url));

export interface Ended {
  code: number | null;
  said: string;
}

/** Runs patchbay-admin to its end. */
export async function admin(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const command = new TestProcess('patchbay-admin', ADMIN, args, env);
  const { code } = await command.exited;
  return { code, said: command.stdout + command.stderr };
}

/** Runs patchbay-admin with its streams open, for tests of `-`. */
export function openAdmin(
  args: readonly string[],
  env: Record<string, string>,
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [ADMIN, ...args], { env: { PATH: process.env.PATH ?? '', ...env } });
}
