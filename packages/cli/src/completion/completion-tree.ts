import type { Argument, Command, Option } from 'commander';

/** What may stand at a place: one of these words, a file, a folder, or what no shell can know. */
export type CompletedValue =
  { kind: 'words'; words: readonly string[] } | { kind: 'file' | 'directory' | 'text' };

/** An option by all its spellings, such as `-h` and `--help`. */
export interface CompletedOption {
  flags: readonly string[];
  description: string;
  /** null: it takes none. */
  value: CompletedValue | null;
}

/** What may follow in order; the last one again and again, if it `repeats`. */
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

/** All that a script has to know, with the program's own options as those of a command without a name. */
export interface CompletionTree {
  program: CompletedCommand;
  commands: readonly CompletedCommand[];
}

/** Reads it off the program itself, so that no script knows another one. */
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

/** The name of a placeholder says what it stands for, as the help does. */
function valueOf(placeholder: string, choices: readonly string[] | undefined): CompletedValue {
  if (choices) return { kind: 'words', words: choices };
  if (placeholder === 'dir') return { kind: 'directory' };
  return { kind: placeholder === 'file' ? 'file' : 'text' };
}
