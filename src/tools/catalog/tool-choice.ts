import { type FieldFaults, throwIfAny } from '../../common/domain-error.js';
import type { BuiltInTools } from '../built-in-tools.js';
import { isCustomName } from '../custom/tool-names.js';
import type { Tool } from './tool.js';

/** Keywords for several tools, evaluated at use, so that new tools are included. */
const WORDS: { [word: string]: (tool: Tool) => boolean } = {
  client: ({ contract }) => contract.executionLocation === 'client',
  server: ({ contract }) => contract.executionLocation === 'server',
  'read-only': ({ contract, definition }) =>
    contract.executionLocation === 'server' && definition.changesCloud === undefined,
};

/**
 * VALIDATION_ERROR that names every entry of a session's choice that is neither a built-in tool nor a keyword nor a
 * name that a client's tool may have [SESSION-1].
 */
export function checkChoice(choice: readonly string[], builtIn: BuiltInTools): void {
  const fields: FieldFaults = {};
  for (const [at, entry] of choice.entries()) {
    if (builtIn.find(entry) !== null || Object.hasOwn(WORDS, entry) || isCustomName(entry, builtIn)) continue;
    fields[`tools[${at}]`] =
      'is not a tool, not a name that a tool of a client may have, and not one of the words client, server, read-only';
  }
  throwIfAny(fields);
}

/** The chosen tools in catalog order. Names of removed tools are ignored. */
export function chosenTools(choice: readonly string[], tools: readonly Tool[]): Tool[] {
  return tools.filter((tool) =>
    choice.some((entry) =>
      Object.hasOwn(WORDS, entry) ? WORDS[entry]!(tool) : entry === tool.contract.name,
    ),
  );
}
