/** Why a file must not be seen. The reason is shown after a path or a number of files. */
export interface Hidden {
  kind: 'secret' | 'leftOut';
  reason: string;
}

export const SECRET: Hidden = { kind: 'secret', reason: 'may contain secrets' };
export const GIT_IGNORES: Hidden = leftOut('ignored by git');
export const GITIGNORE_NAMES: Hidden = leftOut('named by .gitignore');
export const OTHER_REPOSITORY: Hidden = leftOut('in a repository or worktree of its own');
export const BARE_REPOSITORY: Hidden = leftOut('in a bare git repository');
export const PATCHBAYS_OWN: Hidden = leftOut("among Patchbay's own files");
export const BEHIND_LINK: Hidden = leftOut('behind a link');
export const UNREADABLE: Hidden = leftOut('in a folder that cannot be read');
export const UNKNOWN: Hidden = leftOut('in a repository that git cannot read');

/** The message for a call about a hidden file, whether the file exists or not. */
export function refusalText({ kind, reason }: Hidden): string {
  return kind === 'secret'
    ? 'The file may contain secrets, so its text stays on the machine. A person can change it, or connect with --include-secrets.'
    : `The file is left out of the Cloud (${reason}), so its text stays on the machine. A person can change it.`;
}

function leftOut(reason: string): Hidden {
  return { kind: 'leftOut', reason };
}
