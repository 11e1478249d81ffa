import type { Workspace } from '@patchbay/protocol';
import { printableLine } from './approval/printable.js';

const MAX_NAMED_OWNERS = 3;

/**
 * Whether the user created the workspace. Owning it is not enough: anyone can create one, add any user as an owner,
 * and stay in it.
 */
export function isOwn({ createdBy }: Workspace, userId: string | null): boolean {
  return userId !== null && createdBy === userId;
}

/** The owner of a workspace in words, safe to print; null if it is the user's own. */
export function ownerText(workspace: Workspace, userId: string | null): string | null {
  if (isOwn(workspace, userId)) return null;
  const others = workspace.owners.filter(({ id }) => id !== userId).map(({ email }) => printableLine(email));
  if (others.length === 0) return 'a former member';
  const more = others.length - MAX_NAMED_OWNERS;
  return others.slice(0, MAX_NAMED_OWNERS).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** `"acme" (<id>), of bob@example.com`; safe to print. */
export function describeWorkspace({ id, name }: { id: string; name: string }, whose: string | null): string {
  return `"${printableLine(name)}" (${printableLine(id)})${whose === null ? '' : `, of ${printableLine(whose)}`}`;
}

/** The user that an access token names; null without one. Only the server can verify it. */
export function userOfToken(token: string | undefined): { id: string | null; email: string | null } {
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  try {
    const [, claims] = (token ?? '').split('.');
    const said = JSON.parse(Buffer.from(claims ?? '', 'base64url').toString('utf8')) as Record<
      string,
      unknown
    >;
    return { id: text(said.sub), email: text(said.email) };
  } catch {
    return { id: null, email: null };
  }
}
