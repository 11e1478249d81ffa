import type { CallErrorCode, Json, JsonCount, ToolCallError } from '@patchbay/protocol';
import type { Tool } from '../../tools/catalog/tool.js';
import { parseTexts } from '../../tools/parsed-texts.js';
import { describeFaults, type SchemaFault } from '../../tools/tool-schemas.js';

/** Pointers that one warning names. */
const MAX_NAMED = 10;

/** The stored arguments of a call, and their faults. */
export interface ReadArguments {
  args: Json;
  faults: SchemaFault[];
  /** JSON Pointers of parsed JSON texts; "" is the arguments as a whole. */
  parsed: string[];
}

/** Checks arguments against their contract. If they break it, JSON texts in them are parsed first [TURN-30]. */
export function readArguments(tool: Tool, args: Json, count: JsonCount): ReadArguments {
  const faults = tool.argumentFaults(args);
  if (faults.length === 0) return { args, faults, parsed: [] };
  const texts = parseTexts(tool.contract.requestSchema, args, count);
  const { parsed } = texts;
  const left = parsed.length > 0 ? tool.argumentFaults(texts.args) : faults;
  return { args: texts.args, faults: mergeFaults(left, texts.faults), parsed };
}

/** Replaces the schema's fault of a text by the reason why it is not JSON. */
function mergeFaults(faults: readonly SchemaFault[], ofTexts: readonly SchemaFault[]): SchemaFault[] {
  const byPath = new Map(ofTexts.map(({ path, message }) => [path, message]));
  return faults.map((fault) => {
    const ofText = byPath.get(fault.path);
    return ofText === undefined ? fault : { ...fault, message: `${fault.message}; the text ${ofText}` };
  });
}

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
