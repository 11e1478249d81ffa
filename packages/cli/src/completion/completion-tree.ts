import type { Argument, Command, Option } from 'commander';

/** A value: one of these words, a file, a folder, or something that no shell can complete. */
export type CompletedValue =
  { kind: 'words'; words: readonly string[] } | { kind: 'file' | 'directory' | 'text' };

/** An option with all its spellings, such as `-h` and `--help`. */
export interface CompletedOption {
  flags: readonly string[];
  description: string;
  /** Null if it takes no value. */
  value: CompletedValue | null;
}

/** The arguments in order; the last one may repeat. */
export interface CompletedArgument {
  name: string;
  value: CompletedValue;
  repeats: boolean;
}

export interface CompletedCommand {
  name: string;
  description: string;
  options: readonly CompletedOption[];
  arguments: readonly CompletedArgument[];
}

/** The data for a completion script. The program's own options are those of a command without a name. */
export interface CompletionTree {
  program: CompletedCommand;
  commands: readonly CompletedCommand[];
}

/** Reads the tree from the program itself, so that the scripts always match it. */
export function completionTree(program: Command): CompletionTree {
  const commands = program.createHelp().visibleCommands(program).map(commandOf);
  const names = commands.map(({ name }) => name);
  const withNames = commands.map((command) =>
    command.name === 'help' ? { ...command, arguments: [commandName(names)] } : command,
  );
  return { program: { ...commandOf(program), arguments: [commandName(names)] }, commands: withNames };
}

function commandName(words: readonly string[]): CompletedArgument {
  return { name: 'command', value: { kind: 'words', words }, repeats: false };
}

function commandOf(command: Command): CompletedCommand {
  return {
    name: command.name(),
    description: command.summary() || command.description(),
    options: command.createHelp().visibleOptions(command).map(optionOf),
    arguments: command.registeredArguments.map(argumentOf),
  };
}

function optionOf({
  short,
  long,
  description,
  required,
  optional,
  flags,
  argChoices,
}: Option): CompletedOption {
  const placeholder = /[<[](.*?)[>\]]/.exec(flags)?.[1] ?? '';
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    value: required || optional ? valueOf(placeholder, argChoices) : null,
  };
}

function argumentOf(argument: Argument): CompletedArgument {
  const name = argument.name();
  return { name, value: valueOf(name, argument.argChoices), repeats: argument.variadic };
}

/** The name of a placeholder tells what kind of value it is, as in the help. */
function valueOf(placeholder: string, choices: readonly string[] | undefined): CompletedValue {
  if (choices) return { kind: 'words', words: choices };
  if (placeholder === 'dir') return { kind: 'directory' };
  return { kind: placeholder === 'file' ? 'file' : 'text' };
}
