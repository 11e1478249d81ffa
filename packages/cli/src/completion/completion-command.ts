import type { Command } from 'commander';
import { EXIT } from '../cli-error.js';
import type { CliIo } from '../settings.js';
import { bashCompletion } from './bash-completion.js';
import type { CompletedShell } from './completed-shells.js';
import { completionTree } from './completion-tree.js';
import { fishCompletion } from './fish-completion.js';
import { zshCompletion } from './zsh-completion.js';

const SCRIPT_OF = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** `patchbay completion`: prints a completion script for this program's commands and options. */
export function completion(shell: CompletedShell, program: Command, io: Pick<CliIo, 'stdout'>): number {
  io.stdout.write(SCRIPT_OF[shell](completionTree(program)));
  return EXIT.ok;
}
