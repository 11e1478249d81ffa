import type { CompletedCommand, CompletedValue, CompletionTree } from './completion-tree.js';

/** A script for bash 3.2 and later. */
export function bashCompletion({ program, commands }: CompletionTree): string {
  const all = [program, ...commands].map((command) =>
    command === program ? { ...command, name: '' } : command,
  );
  return `# bash completion for patchbay

# Sets kind to that of the value which option $2 of command $1 takes; fails where it takes none.
_patchbay_value() {
  case "$1 $2" in
${all.flatMap(valueCases).join('\n')}
    *) return 1 ;;
  esac
}

# Sets kind to that of argument $2, from 0, of command $1.
_patchbay_argument() {
  case "$1 $2" in
${all.flatMap(argumentCases).join('\n')}
    *) kind=text ;;
  esac
}

_patchbay_options() {
  case $1 in
${all.map(optionCase).join('\n')}
  esac
}

_patchbay() {
  local current=\${COMP_WORDS[COMP_CWORD]} command= place=0 at word kind= line
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    if [[ -n $kind ]]; then kind=
    # bash takes a URL for several words.
    elif [[ $word == : || $word == //* ]]; then continue
    elif [[ $word == -* ]]; then _patchbay_value "$command" "$word" || kind=
    elif [[ -z $command ]]; then command=$word
    else place=$((place + 1)); fi
  done
  if [[ -z $kind && $current == -* ]]; then kind="words $(_patchbay_options "$command")"
  elif [[ -z $kind ]]; then _patchbay_argument "$command" "$place"; fi
  local found
  case $kind in
    text) return ;;
    words\\ *) found=$(compgen -W "\${kind#words }" -- "$current") ;;
    directory) found=$(compgen -d -- "$current") ;;
    file) found=$(compgen -f -- "$current") ;;
  esac
  [[ $kind == words* ]] || compopt -o filenames 2>/dev/null
  while IFS= read -r line; do [[ -n $line ]] && COMPREPLY+=("$line"); done <<<"$found"
}

complete -F _patchbay patchbay
`;
}

function valueCases({ name, options }: CompletedCommand): string[] {
  return options.flatMap(({ flags, value }) =>
    value === null
      ? []
      : [`    ${flags.map((flag) => `'${name} ${flag}'`).join(' | ')}) kind=${kindText(value)} ;;`],
  );
}

function argumentCases({ name, arguments: list }: CompletedCommand): string[] {
  return list.map(
    ({ value, repeats }, at) => `    '${name} '${repeats ? '*' : at}) kind=${kindText(value)} ;;`,
  );
}

function optionCase({ name, options }: CompletedCommand): string {
  return `    '${name}') echo '${options.flatMap(({ flags }) => flags).join(' ')}' ;;`;
}

function kindText(value: CompletedValue): string {
  return value.kind === 'words' ? `'words ${value.words.join(' ')}'` : value.kind;
}
