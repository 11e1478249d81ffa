import type { Workspace } from '@patchbay/protocol';
import { printableLine } from './approval/printable.js';

const NAMED_OWNERS = 3;

/**
 * Whether the user made the workspace. To be its owner is not enough: a stranger can make one, add anybody as an owner,
 * and stay in it.
 */
export function isOwn({ createdBy }: Workspace, userId: string | null): boolean {
  return userId !== null && createdBy === userId;
}

/** Whose workspace it is, in words that are safe to print; null where it is the user's own. */
export function whoseIs(workspace: Workspace, userId: string | null): string | null {
  if (isOwn(workspace, userId)) return null;
  const others = workspace.owners.filter(({ id }) => id !== userId).map(({ email }) => printableLine(email));
  if (others.length === 0) return 'somebody who has left it';
  const more = others.length - NAMED_OWNERS;
  return others.slice(0, NAMED_OWNERS).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** `"acme" (<id>), of bob@example.com`; safe to print. */
export function describeWorkspace({ id, name }: { id: string; name: string }, whose: string | null): string {
  return `"${printableLine(name)}" (${printableLine(id)})${whose === null ? '' : `, of ${whose}`}`;
}

/** The user that an access token is of; null where it does not say. The server alone judges whether that is true. */
export function userIn(token: string | undefined): string | null {
  try {
    const [, claims] = (token ?? '').split('.');
    const { sub } = JSON.parse(Buffer.from(claims ?? '', 'base64url').toString('utf8')) as { sub?: unknown };
    return typeof sub === 'string' ? sub : null;
  } catch {
    return null;
  }
}
