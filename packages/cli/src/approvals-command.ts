import type { WorkspaceClient } from '@patchbay/client';
import type { CloudChange } from '@patchbay/protocol';
import { printableJson, printableLine } from './approval/printable.js';
import { type StoredRule, MachineRules, ruleText } from './approval/session-rules.js';
import { workspaceOf } from './choose-workspace.js';
import { CliError, EXIT } from './cli-error.js';
import { say } from './say.js';
import { settingsOf, type CliIo, type CommonFlags } from './settings.js';

export interface ApprovalsFlags extends CommonFlags {
  revoke?: number;
  ask?: CloudChange[];
  notAsk?: CloudChange[];
  json?: boolean;
}

/**
 * `patchbay approvals`: lists the rules of this machine and the server tools that need approval, or changes either.
 * Revoking a rule needs no server.
 */
export async function approvals(
  { revoke, ask = [], notAsk = [], json, ...flags }: ApprovalsFlags,
  io: CliIo,
): Promise<number> {
  const both = ask.find((tool) => notAsk.includes(tool));
  if (both) throw new CliError(`Pass ${both} with --ask or with --not-ask.`, EXIT.usage);
  const settings = await settingsOf(flags, io);
  const machine = new MachineRules(settings.home);
  const isChange = ask.length + notAsk.length > 0;
  if (revoke !== undefined) {
    const revoked = await machine.revoke(revoke);
    if (!revoked)
      throw new CliError(`There is no rule ${revoke}: "patchbay approvals" lists them.`, EXIT.usage);
    if (!json) say(io.stdout, `Revoked: ${ruleLine(revoked)}`);
  }
  const rules = await machine.all();
  if (revoke !== undefined && !isChange) {
    if (json) io.stdout.write(`${printableJson({ rules })}\n`);
    return EXIT.ok;
  }
  if (!json) say(io.stdout, rulesText(rules));
  const workspace = await workspaceOf(settings, io);
  const asked = await askedAbout(workspace, ask, notAsk);
  if (json) io.stdout.write(`${printableJson({ rules, approvals: asked })}\n`);
  else {
    say(io.stdout, 'Server tools in this workspace that need approval:');
    say(io.stdout, `  ${printableLine(asked.join(', ')) || 'none'}`);
  }
  return EXIT.ok;
}

async function askedAbout(
  workspace: WorkspaceClient,
  ask: readonly CloudChange[],
  notAsk: readonly CloudChange[],
): Promise<readonly CloudChange[]> {
  const { approvals: before } = await workspace.get();
  if (ask.length + notAsk.length === 0) return before;
  const wanted = [...new Set([...before, ...ask])].filter((tool) => !notAsk.includes(tool));
  return (await workspace.update({ approvals: wanted })).approvals;
}

function rulesText(rules: readonly StoredRule[]): string {
  const lines = rules.map((rule) => `  ${ruleLine(rule)}`);
  return `Rules of this machine that allow calls without asking:\n${lines.join('\n') || '  none'}`;
}

/** `3  every call of …`; safe to print. */
function ruleLine(rule: StoredRule): string {
  const { n, url, workspaceId, by, at } = rule;
  return printableLine(`${n}  ${ruleText(rule)}; ${url}, workspace ${workspaceId}; taken by ${by}, ${at}`);
}
