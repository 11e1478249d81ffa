import type { CallErrorCode, ToolCallError } from '@patchbay/protocol';
import { describeFaults, type SchemaFault } from '../../tools/tool-schemas.js';

/** Pointers that one warning names. */
const MAX_NAMED = 10;

/** The warnings for parsed JSON texts. */
export function parsedWarnings(tool: string, pointers: readonly string[]): ToolCallError[] {
  if (pointers.length === 0) return [];
  const named = pointers.slice(0, MAX_NAMED).map((pointer) => (pointer === '' ? 'the arguments' : pointer));
  const more = pointers.length > MAX_NAMED ? ` and ${pointers.length - MAX_NAMED} more` : '';
  const message = `${tool}: ${named.join(', ')}${more} came as a string of JSON, which was parsed. Send the value itself.`;
  return [{ code: 'ARGUMENTS_PARSED', message }];
}

/** The error of a call with invalid arguments; null if there are no faults. */
export function argumentError(name: string, faults: SchemaFault[]): ToolCallError | null {
  return faults.length > 0 ? invalid(name, describeFaults(faults), faults) : null;
}

/** The error of a call whose arguments could not be read. */
export function unreadable(name: string, fault: string): ToolCallError {
  return invalid(name, `arguments ${fault}`, [{ path: '', code: 'type', message: fault }]);
}

function invalid(name: string, what: string, faults: SchemaFault[]): ToolCallError {
  const code: CallErrorCode = 'INVALID_ARGUMENTS';
  return { code, message: `The arguments of ${name} are not valid: ${what}.`, details: { faults } };
}
