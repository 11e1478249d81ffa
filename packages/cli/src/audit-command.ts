import type { WorkspaceClient } from '@patchbay/client';
import type { AuditEvent, AuditQuery } from '@patchbay/protocol';
import { printableJson } from './approval/printable.js';
import { csvRow, EVENT_COLUMNS, eventCells } from './audit-csv.js';
import { auditTable } from './audit-table.js';
import { EXIT } from './cli-error.js';
import { workspaceOf } from './choose-workspace.js';
import { say } from './say.js';
import { settingsOf, type CliIo, type CommonFlags, type Settings } from './settings.js';

export interface AuditFlags extends CommonFlags, Omit<AuditQuery, 'limit' | 'cursor' | 'order'> {
  json?: boolean;
  csv?: boolean;
  limit?: number;
  last?: number;
  since?: string;
}

const PAGE = 500;

/** `patchbay audit`: prints matching events, oldest first, as a table, JSON lines or CSV. */
export async function audit(flags: AuditFlags, io: CliIo): Promise<number> {
  const settings = await settingsOf(flags, io);
  const workspace = await workspaceOf(settings, io);
  const { stdout } = io;
  const shown: AuditEvent[] = [];
  // Printed with the first answer: a refused query prints nothing.
  let head = flags.csv ? csvRow(EVENT_COLUMNS) : '';
  for await (const event of eventsOf(workspace, flags)) {
    // The reader, such as `head`, has closed the pipe.
    if (stdout.destroyed) break;
    if (flags.json) stdout.write(`${printableJson(event)}\n`);
    else if (flags.csv) {
      stdout.write(head + csvRow(eventCells(event)));
      head = '';
    } else shown.push(event);
  }
  if (head !== '') stdout.write(head);
  if (flags.json || flags.csv) return EXIT.ok;
  say(
    stdout,
    shown.length === 0 ? 'No events.' : auditTable(shown, await emailsOf(workspace, settings), stdout),
  );
  return EXIT.ok;
}

/** The oldest `limit` events, or the `last` ones, in the order of the trail. */
async function* eventsOf(workspace: WorkspaceClient, flags: AuditFlags): AsyncGenerator<AuditEvent> {
  const { sessionId, conversationId, turnId, toolCallId, callId, batchId, userId, clientId } = flags;
  const { toolName, event, success, errorCode, path, since, from = since, to, last } = flags;
  const most = last ?? flags.limit ?? Infinity;
  if (most === 0) return;
  const query: AuditQuery = {
    ...{ sessionId, conversationId, turnId, toolCallId, callId, batchId, userId, clientId, toolName },
    ...{ event, success, errorCode, path, from, to, ...(last !== undefined && { order: 'desc' as const }) },
    limit: Math.min(most, PAGE),
  };
  const newest: AuditEvent[] = [];
  let count = 0;
  for await (const one of workspace.audit(query)) {
    if (last === undefined) yield one;
    else newest.push(one);
    count += 1;
    if (count === most) break;
  }
  yield* newest.reverse();
}

/** Emails by user id, as far as the caller may see them: the trail has only ids. */
async function emailsOf(
  workspace: WorkspaceClient,
  { userId, email }: Pick<Settings, 'userId' | 'email'>,
): Promise<Map<string, string>> {
  const people = await workspace
    .members()
    .then((members) => members.map((member) => [member.userId, member.email] as const))
    .catch(async () => (await workspace.get()).owners.map((owner) => [owner.id, owner.email] as const))
    .catch(() => []);
  const own = userId !== null && email !== null ? [[userId, email] as const] : [];
  return new Map([...own, ...people]);
}
