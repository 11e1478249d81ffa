import { DomainError } from '../common/domain-error.js';
import type { Config } from '../config/config.js';
import type { Usage } from '../storage/ports/usage.store.js';

/** The two limits of one kind of resource, and how they are set. */
interface Limit {
  ofWorkspace: number;
  ofUser: number;
  /** The variable without PATCHBAY_MAX_ or PATCHBAY_MAX_USER_; null if the limit is fixed. */
  name: string | null;
  /** What is counted. */
  noun: string;
  /** The remedy, up to the variable's name if there is one. */
  help: string;
}

/** The limits of all counted resources. */
export type Limits = { readonly [Kind in keyof Usage]: Limit };

export function limitsFrom(config: Config): Limits {
  const { maxFiles, maxVersions, maxSessions, maxStoredBytes } = config;
  const { maxUserFiles, maxUserVersions, maxUserSessions, maxUserStoredBytes } = config;
  const limit = (
    name: string | null,
    ofWorkspace: number,
    ofUser: number,
    noun: string,
    help = 'An operator can raise',
  ): Limit => {
    return { name, ofWorkspace, ofUser, noun, help };
  };
  return {
    bytes: limit('STORED_BYTES', maxStoredBytes, maxUserStoredBytes, 'stored bytes'),
    files: limit(
      'FILES',
      maxFiles,
      maxUserFiles,
      'files and folders',
      'Delete some, or ask an operator to raise',
    ),
    versions: limit('VERSIONS', maxVersions, maxUserVersions, 'versions of files'),
    sessions: limit(null, maxSessions, maxUserSessions, 'sessions', 'Use an existing one'),
  };
}

/** Whose limit it is: a workspace's, or a user's over all workspaces. */
export type Scope = 'workspace' | 'user';

/** The refusal of a write beyond a limit: which limit, whose, and the remedy. */
export function overLimit(
  { name, ofWorkspace, ofUser, noun, help }: Limit,
  scope: Scope,
  used: number,
): DomainError {
  const [subject, limit, prefix] =
    scope === 'user'
      ? ['You have', ofUser, 'PATCHBAY_MAX_USER_']
      : ['The workspace has', ofWorkspace, 'PATCHBAY_MAX_'];
  const where = scope === 'user' ? ' in all workspaces' : '';
  const variable = name === null ? null : prefix + name;
  return new DomainError(
    'TOO_LARGE',
    `${subject} ${used} ${noun}${where}, and this would exceed the limit of ${limit}. ` +
      `${help}${variable === null ? '' : ` ${variable}`}.`,
    { details: { limit: variable ?? noun, has: used, allowed: limit } },
  );
}
