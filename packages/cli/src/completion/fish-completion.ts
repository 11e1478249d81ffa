import type { CompletedCommand, CompletedOption, CompletedValue, CompletionTree } from './completion-tree.js';

/** A script for fish. */
export function fishCompletion({ program, commands }: CompletionTree): string {
  const lines = [
    '# fish completion for patchbay',
    'complete -c patchbay -f',
    ...program.options.map((option) => line('__fish_use_subcommand', optionPart(option))),
    ...commands.map(({ name, description }) =>
      line('__fish_use_subcommand', `-a ${name} -d ${quoted(description)}`),
    ),
    ...commands.flatMap(linesOf),
  ];
  return `${lines.join('\n')}\n`;
}

function linesOf({ name, options, arguments: list }: CompletedCommand): string[] {
  const inCommand = `__fish_seen_subcommand_from ${name}`;
  const words = list.map(({ value }) => valuePart(value, '-a')).filter((part) => part !== '');
  return [...options.map(optionPart), ...words].map((part) => line(inCommand, part));
}

function line(condition: string, part: string): string {
  return `complete -c patchbay -n ${quoted(condition)} ${part}`;
}

function optionPart({ flags, description, value }: CompletedOption): string {
  const spelt = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  const takes = value === null ? [] : [`-r ${valuePart(value, '-f -a')}`.trimEnd()];
  return [...spelt, ...takes, `-d ${quoted(description)}`].join(' ');
}

/** The completion of a value; nothing if no shell can know it. */
function valuePart(value: CompletedValue, offer: string): string {
  if (value.kind === 'words') return `${offer} ${quoted(value.words.join(' '))}`;
  if (value.kind === 'directory') return `${offer} '(__fish_complete_directories)'`;
  return value.kind === 'file' ? '-F' : offer.startsWith('-f') ? '-f' : '';
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
