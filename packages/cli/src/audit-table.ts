import { styleText } from 'node:util';
import type { AuditEvent, Json } from '@patchbay/protocol';
import { columnsOf } from './approval/fit.js';
import { printableLine } from './approval/printable.js';

const COLUMNS = ['seq', 'time', 'who', 'event', 'call', 'details'] as const;
/** Fields that repeat the event's name or columns. */
const SELF_EVIDENT = new Set(['toolName']);

/** Events as a table, or as several rows each if the window is too narrow; safe to print. `emails` maps user ids. */
export function auditTable(
  events: readonly AuditEvent[],
  emails: ReadonlyMap<string, string>,
  stream: NodeJS.WritableStream,
): string {
  const rows = events.map((event) => [
    String(event.seq),
    printableLine(event.at.replace('T', ' ')),
    printableLine(actorText(event, emails)),
    printableLine(event.name),
    printableLine(event.toolCallId ?? ''),
    detailsOf(event),
  ]);
  // Not Math.max over all at once: a trail may have more events than a call takes arguments.
  const widths = COLUMNS.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]!.length), title.length),
  );
  const lineOf = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padStart(widths[0]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd();
  const width = widths.reduce((sum, column) => sum + column + 2, -2);
  if (width > columnsOf(stream)) return rows.map((row) => rowsOf(row, widths[0]!)).join('\n');
  const head = styleText('bold', lineOf(COLUMNS), { stream });
  return [head, ...rows.map(lineOf)].join('\n');
}

/** An event on several rows: details and user are below the name. */
function rowsOf([seq, time, who, name, call, details]: readonly string[], width: number): string {
  const first = [seq!.padStart(width), time, name, call].join('  ').trimEnd();
  const below = [who, details].filter((cell) => cell !== '');
  return [first, ...below.map((cell) => `${' '.repeat(width + 2)}${cell}`)].join('\n');
}

/** The user, by email if it is known, and the client that acted for them. */
function actorText({ actor: { userId, clientId } }: AuditEvent, emails: ReadonlyMap<string, string>): string {
  const user = userId === null ? '' : (emails.get(userId) ?? userId);
  return clientId === null ? user : `${user} (${clientId})`.trimStart();
}

function detailsOf({ fields, attempt }: AuditEvent): string {
  const shown = Object.entries(fields).filter(
    ([name, value]) => value !== null && value !== '' && !SELF_EVIDENT.has(name),
  );
  const parts = shown.map(([name, value]) => `${printableLine(name)}=${shorten(name, textOf(value))}`);
  return [...(attempt !== null && attempt > 1 ? [`attempt=${attempt}`] : []), ...parts].join(' ');
}

/** The plain values of lists and objects, without times: `allow,--yes`. */
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
