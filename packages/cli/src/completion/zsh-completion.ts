import type {
  CompletedArgument,
  CompletedCommand,
  CompletedOption,
  CompletedValue,
  CompletionTree,
} from './completion-tree.js';

/** A script for zsh, to be sourced or found in fpath. */
export function zshCompletion({ program, commands }: CompletionTree): string {
  return `#compdef patchbay

_patchbay() {
  local context state state_descr line
  local -A opt_args
  local -a commands
  _arguments -C \\
${program.options.map(optionSpec).map(inArguments).join('')}    '1: :->command' \\
    '*:: :->rest' && return
  if [[ $state == command ]]; then
    commands=(
${commands.map(({ name, description }) => `      ${quoted(`${name}:${description}`)}\n`).join('')}    )
    _describe -t commands command commands
    return
  fi
  case $line[1] in
${commands.map(commandCase).join('')}  esac
}

if [[ $funcstack[1] == _patchbay ]]; then
  _patchbay "$@"
else
  compdef _patchbay patchbay
fi
`;
}

function commandCase({ name, options, arguments: list }: CompletedCommand): string {
  const specs = [...options.map(optionSpec), ...list.map(argumentSpec)];
  return `    ${name})\n      _arguments \\\n${specs.map(inArguments).join('')}        && return ;;\n`;
}

function inArguments(spec: string): string {
  return `        ${spec} \\\n`;
}

function optionSpec({ flags, description, value }: CompletedOption): string {
  const text = `[${escaped(description)}]${value === null ? '' : `:value:${actionOf(value)}`}`;
  // An option with a value may be repeated.
  if (flags.length === 1) return quoted(`${value === null ? '' : '*'}${flags[0]}${text}`);
  return `${quoted(`(${flags.join(' ')})`)}{${flags.join(',')}}${quoted(text)}`;
}

function argumentSpec({ name, value, repeats }: CompletedArgument, at: number): string {
  return quoted(`${repeats ? '*' : at + 1}:${escaped(name)}:${actionOf(value)}`);
}

function actionOf(value: CompletedValue): string {
  if (value.kind === 'words') return `(${value.words.join(' ')})`;
  return { text: ' ', directory: '_files -/', file: '_files' }[value.kind];
}

/** Escapes the characters with a meaning in a spec of _arguments. */
function escaped(text: string): string {
  return text.replace(/[\\[\]:]/g, '\\$&');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
