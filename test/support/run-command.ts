import { PassThrough } from 'node:stream';
import { runCli } from '../../packages/cli/src/program.js';
import type { CliIo } from '../../packages/cli/src/settings.js';

/** What came of a command. */
export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** What a command is given beside its words. */
export interface Given {
  stdin?: string;
  env?: NodeJS.ProcessEnv;
}

/** Collects what a command prints. */
class Output extends PassThrough {
  text = '';
  constructor() {
    super();
    this.on('data', (chunk: Buffer) => (this.text += chunk.toString()));
  }
}

/** Runs a command line as it stands, in this process. */
export async function runCommand(
  args: readonly string[],
  { stdin = '', env = {} }: Given = {},
): Promise<Ran> {
  const [out, err] = [new Output(), new Output()];
  const input = new PassThrough().end(stdin);
  const code = await runCli(args, { stdin: input, stdout: out, stderr: err, env } as unknown as CliIo);
  return { code, out: out.text, err: err.text };
}
