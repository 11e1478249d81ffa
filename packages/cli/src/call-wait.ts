import type { ClientPresence, Json, OpenToolCall } from '@patchbay/protocol';
import { printableLine } from './approval/printable.js';

/** Client names by clientId. */
export type ClientNames = ReadonlyMap<string, string>;

export function namesOf(clients: readonly ClientPresence[]): ClientNames {
  return new Map(clients.map(({ clientId, name }) => [clientId, name]));
}

type Wait = (client: string, folders: string) => string;

/** What a call waits for in each status, and which of its deadlines applies. */
const WAITS: Record<OpenToolCall['status'], { clock: keyof OpenToolCall['deadlines'] | null; words: Wait }> =
  {
    accepted: { clock: null, words: () => 'waits for earlier calls on the server' },
    executing: { clock: null, words: () => 'runs on the server' },
    pending: {
      clock: 'deliveryAt',
      words: (_, folders) => `waits for a client${folders} ("patchbay connect")`,
    },
    forwarded: {
      clock: 'deliveryAt',
      words: (client) => `was sent to ${client}, which has not acknowledged it yet`,
    },
    acknowledged: { clock: 'approvalAt', words: (client) => `waits for its decision at ${client}` },
    awaiting_approval: {
      clock: 'approvalAt',
      words: (client) => `waits for a person's decision at ${client}`,
    },
    running: { clock: 'executionAt', words: (client) => `runs at ${client}` },
  };

/**
 * What an open call waits for, and until when: `waits for a person's decision at "patchbay connect proj", until
 * 14:05:10 (14 min left)`. Safe to print.
 */
export function waitText(call: OpenToolCall, names: ClientNames, now = Date.now()): string {
  const { status, clientId, deadlines, roots = [] } = call;
  // A newer server may have other statuses.
  const { clock, words } = WAITS[status] ?? { clock: null, words: () => `is ${printableLine(status)}` };
  const client = clientId === null ? 'a client' : `"${printableLine(names.get(clientId) ?? clientId)}"`;
  const folders = roots.length === 0 ? '' : ` with the folder ${roots.map(printableLine).join(' and ')}`;
  const until = clock === null ? null : deadlines[clock];
  return words(client, folders) + (until === null ? '' : `, until ${clockText(until, now)}`);
}

/** `c1 workspace_create_file src/a.ts`; safe to print. */
export function callText({
  toolCallId,
  name,
  arguments: args = null,
}: Pick<OpenToolCall, 'toolCallId' | 'name'> & { arguments?: Json }): string {
  const [first, ...others] = pathsIn(args);
  const paths =
    first === undefined ? [] : [first, ...(others.length > 0 ? [`and ${others.length} more`] : [])];
  return printableLine([toolCallId, name, ...paths].join(' '));
}

/** The files of a call, if its arguments name them as our own tools do. */
function pathsIn(args: Json): string[] {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return [];
  const { path, docPath, files } = args;
  const named = Array.isArray(files) ? files.flatMap(pathsIn) : [];
  return [path, docPath, ...named].filter((one): one is string => typeof one === 'string' && one !== '');
}

/** A time of day, and how long it is until then. */
function clockText(at: string, now: number): string {
  const time = new Date(at);
  const [hours, minutes, seconds] = [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${hours}:${minutes}:${seconds} (${durationText(Math.max(0, time.getTime() - now))} left)`;
}

/** A duration in words. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
