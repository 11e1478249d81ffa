import type { CloudChange } from '@patchbay/protocol';
import { NO_TOOL } from './approval-words.js';
import { printableJson } from './approval/printable.js';
import { workspaceOf } from './choose-workspace.js';
import { CliError, EXIT } from './cli-error.js';
import { settingsOf, type CliIo, type CommonFlags } from './settings.js';

export interface ApprovalsFlags extends CommonFlags {
  json?: boolean;
}

/** `patchbay approvals`: says of which of the server's tools a person is asked before they run, or changes that. */
export async function approvals(
  tools: readonly string[],
  { json, ...flags }: ApprovalsFlags,
  io: CliIo,
): Promise<number> {
  if (tools.length > 1 && tools.includes(NO_TOOL)) {
    throw new CliError('Pass names of tools, or "none" alone.', EXIT.usage);
  }
  const workspace = await workspaceOf(await settingsOf(flags, io), io);
  const chosen = tools[0] === NO_TOOL ? [] : (tools as CloudChange[]);
  const { approvals: asked } =
    tools.length === 0 ? await workspace.get() : await workspace.update({ approvals: chosen });
  if (json) io.stdout.write(`${printableJson({ approvals: asked })}\n`);
  else if (asked.length === 0) io.stdout.write("No call of the server's tools is asked about.\n");
  else io.stdout.write(`A person is asked before the server runs a call of: ${asked.join(', ')}.\n`);
  return EXIT.ok;
}
