import { readFile } from 'node:fs/promises';
import { lossIn, parseExactJson, type ToolCallInput, type TurnRequest } from '@patchbay/protocol';
import { CliError, EXIT, systemReason } from './cli-error.js';
import { readAll } from './prompt.js';
import { say } from './say.js';
import type { CliIo } from './settings.js';

/**
 * The turn in a file, `-` for stdin: a whole request, its list of calls, or one call, unchanged. The server validates
 * it.
 */
export async function readTurn(file: string, io: CliIo): Promise<TurnRequest> {
  return parseTurn(await contentOf(file, io), file);
}

async function contentOf(file: string, io: CliIo): Promise<string> {
  if (file === '-') {
    if (io.stdin.isTTY) say(io.stderr, 'Type the turn as JSON, then press Ctrl-D.');
    return readAll(io.stdin);
  }
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const why = systemReason(error) ?? (error as Error).message;
    throw new CliError(`Cannot read ${file}: ${why}.`, EXIT.usage);
  }
}

function parseTurn(text: string, file: string): TurnRequest {
  let value: unknown;
  let loss: string | null;
  try {
    value = parseExactJson(text.replace(/^\uFEFF/, ''));
    loss = lossIn({ value }, 'value');
  } catch (error) {
    const isDeep = error instanceof RangeError;
    const fault = isDeep ? 'is nested too deep' : `is not JSON: ${(error as Error).message}`;
    throw new CliError(`${file} ${fault}`, EXIT.usage);
  }
  if (loss !== null) throw new CliError(`${file} holds ${loss}.`, EXIT.usage);
  if (Array.isArray(value)) return { toolCalls: value as ToolCallInput[] };
  if (typeof value !== 'object' || value === null) {
    throw new CliError(`${file} contains no turn: give {"toolCalls": [...]}, or only the list.`, EXIT.usage);
  }
  return 'toolCalls' in value ? (value as TurnRequest) : { toolCalls: [value as ToolCallInput] };
}
