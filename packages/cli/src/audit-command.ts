import { styleText } from 'node:util';
import type { AuditEvent, AuditQuery, Json } from '@patchbay/protocol';
import { printableJson, printableLine } from './approval/printable.js';
import { EXIT } from './cli-error.js';
import { workspaceOf } from './choose-workspace.js';
import { settingsOf, type CliIo, type CommonFlags } from './settings.js';

export interface AuditFlags extends CommonFlags, Omit<AuditQuery, 'limit' | 'cursor'> {
  json?: boolean;
  limit?: number;
}

const PAGE = 500;
const COLUMNS = ['seq', 'time', 'event', 'call', 'details'] as const;
/** Fields that say nothing beside the event's own name and columns. */
const SELF_EVIDENT = new Set(['toolName']);

/** `patchbay audit`: the events that fit, oldest first, as a table or as JSON lines. */
export async function audit(flags: AuditFlags, io: CliIo): Promise<number> {
  const workspace = await workspaceOf(await settingsOf(flags, io), io);
  const { json, limit = Infinity, sessionId, conversationId, turnId, toolCallId, callId, batchId } = flags;
  const { clientId, toolName, event, success, errorCode, path, from, to } = flags;
  const query: AuditQuery = {
    ...{ sessionId, conversationId, turnId, toolCallId, callId, batchId, clientId, toolName },
    ...{ event, success, errorCode, path, from, to },
    limit: Math.min(limit, PAGE),
  };
  const events: AuditEvent[] = [];
  let count = 0;
  for await (const one of workspace.audit(query)) {
    if (count++ >= limit) break;
    if (json) io.stdout.write(`${printableJson(one)}\n`);
    else events.push(one);
  }
  if (!json) io.stdout.write(count === 0 ? 'No events.\n' : auditTable(events, io.stdout));
  return EXIT.ok;
}

/** Events as a table of one line each; safe to print. */
export function auditTable(events: readonly AuditEvent[], stream: NodeJS.WritableStream): string {
  const rows = events.map((event) => [
    String(event.seq),
    event.at.slice(11, 23),
    printableLine(event.name),
    printableLine(event.toolCallId ?? ''),
    detailsOf(event),
  ]);
  const widths = COLUMNS.map((title, column) =>
    Math.max(...[title, ...rows.map((row) => row[column]!)].map((s) => s.length)),
  );
  const lineOf = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padStart(widths[0]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd();
  const head = styleText('bold', lineOf(COLUMNS), { stream });
  return `${[head, ...rows.map(lineOf)].join('\n')}\n`;
}

function detailsOf({ fields, attempt }: AuditEvent): string {
  const shown = Object.entries(fields).filter(
    ([name, value]) => value !== null && value !== '' && !SELF_EVIDENT.has(name),
  );
  const parts = shown.map(([name, value]) => `${name}=${shorten(name, textOf(value))}`);
  return [...(attempt !== null && attempt > 1 ? [`attempt=${attempt}`] : []), ...parts].join(' ');
}

/** Of lists and objects only the plain values, and no times beside the event's own: `allow,--yes`. */
function textOf(value: Json): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const parts = Object.entries(value).flatMap(([name, part]) =>
    name === 'at' || part === null || typeof part === 'object' ? [] : [String(part)],
  );
  return parts.join(',');
}

function shorten(name: string, value: string): string {
  return printableLine(/hash|sha256/i.test(name) && value.length > 16 ? `${value.slice(0, 12)}…` : value);
}
