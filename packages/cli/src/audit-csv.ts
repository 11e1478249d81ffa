import type { AuditEvent } from '@patchbay/protocol';
import { printableJson, printableLine } from './approval/printable.js';

/** The CSV columns of the trail. `fields` is the event's own JSON. */
export const EVENT_COLUMNS = [
  ...['seq', 'eventId', 'at', 'name', 'userId', 'clientId', 'sessionId', 'conversationId', 'turnId'],
  ...['toolCallId', 'callId', 'attempt', 'toolName', 'path', 'success', 'errorCode', 'fields'],
];

/** The cells of an event's row; safe to print. */
export function eventCells(event: AuditEvent): string[] {
  const { seq, eventId, at, name, actor, sessionId, conversationId, turnId, toolCallId, callId } = event;
  const { toolName, path, paths, success, errorCode } = event.fields;
  const where = path ?? (Array.isArray(paths) ? paths.map(textOf).join(' ') : null);
  return [
    ...[seq, eventId, at, name, actor.userId, actor.clientId, sessionId, conversationId, turnId, toolCallId],
    ...[callId, event.attempt, toolName, where, success, errorCode],
  ]
    .map((value) => (value === null || value === undefined ? '' : printableLine(textOf(value))))
    .concat(printableJson(event.fields));
}

/** One record of RFC 4180. */
export function csvRow(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
