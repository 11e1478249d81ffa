import { type FieldFaults, throwIfAny } from '../../common/domain-error.js';
import type { Tool } from './tool.js';

/** Keywords for several tools, evaluated at use, so that new tools are included. */
const WORDS: { [word: string]: (tool: Tool) => boolean } = {
  client: ({ contract }) => contract.executionLocation === 'client',
  server: ({ contract }) => contract.executionLocation === 'server',
  'read-only': ({ contract, definition }) =>
    contract.executionLocation === 'server' && definition.changesCloud === undefined,
};

/** VALIDATION_ERROR that names every entry of a session's choice that is neither a tool nor a keyword [SESSION-1]. */
export function checkChoice(choice: readonly string[], tools: readonly Tool[]): void {
  const names = new Set(tools.map(({ contract }) => contract.name));
  const fields: FieldFaults = {};
  for (const [at, entry] of choice.entries()) {
    if (names.has(entry) || Object.hasOwn(WORDS, entry)) continue;
    fields[`tools[${at}]`] = 'is not a tool, and not one of the words client, server, read-only';
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
