import { readFile } from 'node:fs/promises';
import {
  type InvokeResult,
  lossyNumberIn,
  parseExactJson,
  type ToolCallInput,
  type TurnEnvelope,
  type TurnRequest,
} from '@patchbay/protocol';
import { CliError, EXIT } from './cli-error.js';
import { readAll } from './prompt.js';
import { settingsOf, workspaceOf, type CliIo, type CommonFlags } from './settings.js';

export interface TurnFlags extends CommonFlags {
  session?: string;
  tools?: string[];
  wait?: number;
}

/** `patchbay turn`: posts a turn from a file and prints the server's answer: the turn envelope, and warnings. */
export async function turn(file: string, flags: TurnFlags, io: CliIo): Promise<number> {
  const { tools } = flags;
  if (tools && flags.session !== undefined) {
    throw new CliError('--tools is for a new session; leave out --session.', EXIT.usage);
  }
  const request = parseTurn(await contentOf(file, io), file);
  const workspace = await workspaceOf(await settingsOf(flags));
  const sessionId = flags.session ?? (await workspace.createSession(tools && { tools })).sessionId;
  const outcome =
    flags.wait === undefined
      ? await workspace.runTurn(sessionId, request)
      : await workspace.postTurn(sessionId, { ...request, waitMs: flags.wait });
  const { warnings, ...result } = outcome;
  const answer: InvokeResult<TurnEnvelope> = { successful: true, errors: [], warnings, result };
  io.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
  if (result.kind !== 'final') return EXIT.turnOpen;
  return result.toolResults.every(({ status }) => status === 'succeeded') ? EXIT.ok : EXIT.callFailed;
}

async function contentOf(file: string, io: CliIo): Promise<string> {
  if (file === '-') return readAll(io.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CliError(`Cannot read ${file}: ${(error as Error).message}`, EXIT.usage);
  }
}

/** A whole request, its list of calls, or one call, as it was written. What is inside is the server's to judge. */
function parseTurn(text: string, file: string): TurnRequest {
  let value: unknown;
  let lossy: string | null;
  try {
    value = parseExactJson(text.replace(/^\uFEFF/, ''));
    lossy = lossyNumberIn({ value }, 'value');
  } catch (error) {
    const isDeep = error instanceof RangeError;
    const fault = isDeep ? 'is nested too deep' : `is not JSON: ${(error as Error).message}`;
    throw new CliError(`${file} ${fault}`, EXIT.usage);
  }
  if (lossy !== null) {
    const advice = 'which JavaScript cannot keep exactly; send it as a string';
    throw new CliError(`${file} holds the number ${lossy}, ${advice}.`, EXIT.usage);
  }
  if (Array.isArray(value)) return { toolCalls: value as ToolCallInput[] };
  if (typeof value !== 'object' || value === null) {
    throw new CliError(`${file} holds no turn: give {"toolCalls": [...]}, or the list alone.`, EXIT.usage);
  }
  return 'toolCalls' in value ? (value as TurnRequest) : { toolCalls: [value as ToolCallInput] };
}
