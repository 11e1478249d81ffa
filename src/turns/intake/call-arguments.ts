import type { CallErrorCode, Json, JsonCount, ToolCallError } from '@patchbay/protocol';
import type { Tool } from '../../tools/catalog/tool.js';
import { parseTexts } from '../../tools/parsed-texts.js';
import { describeFaults, type SchemaFault } from '../../tools/tool-schemas.js';

/** Pointers that one warning names. */
const MAX_NAMED = 10;

/** The arguments of a call as they are kept, and what is wrong with them. */
export interface ReadArguments {
  args: Json;
  faults: SchemaFault[];
  /** JSON Pointers of texts of JSON that were parsed; "" is the arguments as a whole. */
  parsed: string[];
}

/** Holds arguments against their contract. Where they break it, texts of JSON in them are parsed first [TURN-30]. */
export function readArguments(tool: Tool, args: Json, count: JsonCount): ReadArguments {
  const faults = tool.argumentFaults(args);
  if (faults.length === 0) return { args, faults, parsed: [] };
  const texts = parseTexts(tool.contract.requestSchema, args, count);
  const { parsed } = texts;
  const left = parsed.length > 0 ? tool.argumentFaults(texts.args) : faults;
  return { args: texts.args, faults: mergeFaults(left, texts.faults), parsed };
}

/** What the faults of a schema say of a text, and why it is no JSON. */
function mergeFaults(faults: readonly SchemaFault[], ofTexts: readonly SchemaFault[]): SchemaFault[] {
  const byPath = new Map(ofTexts.map(({ path, message }) => [path, message]));
  return faults.map((fault) => {
    const ofText = byPath.get(fault.path);
    return ofText === undefined ? fault : { ...fault, message: `${fault.message}; the text ${ofText}` };
  });
}

/** What the orchestrator is told where texts were parsed. */
export function parsedWarnings(tool: string, pointers: readonly string[]): ToolCallError[] {
  if (pointers.length === 0) return [];
  const named = pointers.slice(0, MAX_NAMED).map((pointer) => (pointer === '' ? 'the arguments' : pointer));
  const more = pointers.length > MAX_NAMED ? ` and ${pointers.length - MAX_NAMED} more` : '';
  const message = `${tool}: ${named.join(', ')}${more} came as a string of JSON, which was parsed. Send the value itself.`;
  return [{ code: 'ARGUMENTS_PARSED', message }];
}

/** The error of a call whose arguments have faults; null where they have none. */
export function argumentError(name: string, faults: SchemaFault[]): ToolCallError | null {
  return faults.length > 0 ? invalid(name, describeFaults(faults), faults) : null;
}

/** The error of a call whose arguments could not even be read. */
export function unreadable(name: string, fault: string): ToolCallError {
  return invalid(name, `arguments ${fault}`, [{ path: '', code: 'type', message: fault }]);
}

function invalid(name: string, what: string, faults: SchemaFault[]): ToolCallError {
  const code: CallErrorCode = 'INVALID_ARGUMENTS';
  return { code, message: `The arguments of ${name} are not valid: ${what}.`, details: { faults } };
}
