# What zsh offers where the cursor is at the end of a line, a word a line:
# zsh -f zsh-offers.zsh <completion script> <line>
# It asks a zsh at a terminal of its own, in which it runs once more, with the script alone.
if (( $# == 2 )); then
  zmodload zsh/zpty
  zpty offers zsh -f -i
  zpty -w offers "source ${(q)ZSH_ARGZERO:A} ${(q)1}"
  zpty -r offers REPLY '*is ready'$'\r\n*'
  zpty -w -n offers "$2"$'\t'
  zpty -r offers REPLY '*'$'\1''*'$'\2'
  REPLY=${REPLY##*$'\1'}
  print -r -- ${${REPLY%%$'\2'*}//$'\r'/}
  zpty -d offers
  exit
fi
stty -echo
autoload -Uz compinit && compinit -u -D
source $1
PROMPT=
begin() { print -n '\1' }
finish() { print -n '\2' }
compprefuncs=(begin)
comppostfuncs=(finish)
bindkey '^I' complete-word
# The builtin that takes what is offered says it, too.
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
  typeset -a __hits
  builtin compadd -A __hits "$@"
  builtin compadd "$@"
  local code=$?
  print -rl -- $__hits
  return $code
}
print 'zsh is ready'
