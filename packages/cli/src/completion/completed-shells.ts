/** Supported shells, and the file in which each looks for completions. */
export const COMPLETION_FILES = {
  bash: '~/.local/share/bash-completion/completions/patchbay',
  zsh: '~/.zfunc/_patchbay',
  fish: '~/.config/fish/completions/patchbay.fish',
} as const;

export type CompletedShell = keyof typeof COMPLETION_FILES;

export const COMPLETION_HELP = `
For this shell alone:
  bash, zsh  source <(patchbay completion bash)
  fish       patchbay completion fish | source

From now on:
  patchbay completion bash > ${COMPLETION_FILES.bash}
  patchbay completion zsh > ${COMPLETION_FILES.zsh}
    (with ~/.zfunc in fpath, before compinit)
  patchbay completion fish > ${COMPLETION_FILES.fish}`;
