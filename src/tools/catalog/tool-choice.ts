import { type FieldFaults, throwIfAny } from '../../common/domain-error.js';
import type { Tool } from './tool.js';

/** Words that stand for several tools; what they stand for is looked up at use, so that a new tool follows its word. */
const WORDS: { [word: string]: (tool: Tool) => boolean } = {
  client: ({ contract }) => contract.executionLocation === 'client',
  server: ({ contract }) => contract.executionLocation === 'server',
  'read-only': ({ contract, definition }) =>
    contract.executionLocation === 'server' && definition.changesCloud === undefined,
};

/** VALIDATION_ERROR that names every entry of a session's choice that is neither a tool nor a word [SESSION-1]. */
export function checkChoice(choice: readonly string[], tools: readonly Tool[]): void {
  const names = new Set(tools.map(({ contract }) => contract.name));
  const fields: FieldFaults = {};
  for (const [at, entry] of choice.entries()) {
    if (names.has(entry) || Object.hasOwn(WORDS, entry)) continue;
    fields[`tools[${at}]`] = 'is not a tool, and not one of the words client, server, read-only';
  }
  throwIfAny(fields);
}

/** The tools that a choice means, in the order of the catalog. A name that no tool has any more means none. */
export function chosenTools(choice: readonly string[], tools: readonly Tool[]): Tool[] {
  return tools.filter((tool) =>
    choice.some((entry) =>
      Object.hasOwn(WORDS, entry) ? WORDS[entry]!(tool) : entry === tool.contract.name,
    ),
  );
}
