import { auditToolName } from '@patchbay/protocol';
import type { BuiltInTools } from '../built-in-tools.js';

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
/** Names of future tools, of the words of a session's choice, and of the events of unknown tools. */
const RESERVED = new Set(['get_call_result', 'unknown', 'client', 'server', 'read-only']);
const OUR_PREFIX = 'workspace_';
/** The event name of calls without a tool. */
const UNKNOWN_EVENT = 'Unknown';

/** The tool's part of its event names: PascalCase of the whole name, whatever its category. */
export function eventNameOf(name: string): string {
  return auditToolName(name, '');
}

/** Whether a client may bring a tool of this name. */
export function isCustomName(name: string, builtIn: BuiltInTools): boolean {
  return nameFault(name, builtIn) === null;
}

/** Why a client may not bring a tool of this name; null if it may. */
export function nameFault(name: string, builtIn: BuiltInTools): string | null {
  if (!NAME.test(name)) return 'must have 1 to 64 of A-Za-z0-9_-, and begin with a letter';
  if (builtIn.find(name) !== null) return 'is the name of a built-in tool';
  if (name.startsWith(OUR_PREFIX)) return `must not begin with ${OUR_PREFIX}`;
  if (RESERVED.has(name)) return 'is reserved';
  const event = eventNameOf(name);
  const isOurs = builtIn.all.some(
    ({ contract }) =>
      event === auditToolName(contract.name, contract.category) || event === eventNameOf(contract.name),
  );
  if (isOurs || event === UNKNOWN_EVENT) return `has the event name Tool.${event}, which is ours`;
  return null;
}
