import type { ActiveFilesRecord, SessionRecord } from '../records/sessions.js';
import { isNoUsage, type WholeUsage, NO_USAGE, type Records } from './records.js';
import type { Usage } from '../ports/usage.store.js';

/** A workspace whose counted usage differs from what it holds. */
export interface UsageDifference {
  workspaceId: string;
  counted: WholeUsage;
  held: WholeUsage;
}

/** Sums up what workspaces hold, by the rules of `UsageStore`, beside the stored counts. Keeps a row per member. */
export class UsageTally {
  private readonly counted = new Map<string, WholeUsage>();
  private readonly held = new Map<string, Map<string, Usage>>();

  usage(record: WholeUsage): void {
    this.counted.set(record.workspaceId, record);
  }

  entry({ workspaceId, holder, kind, deletedAt }: Records['entries']): void {
    const files = deletedAt === null ? 1 : 0;
    this.add(workspaceId, holder, { files, versions: kind === 'folder' ? 1 : 0 });
  }

  version({ workspaceId, author }: Records['versions']): void {
    this.add(workspaceId, author, { versions: 1 });
  }

  blob({ workspaceId, holder, size }: Records['blobs']): void {
    this.add(workspaceId, holder, { bytes: size });
  }

  session({ workspaceId, userId, tools }: SessionRecord): void {
    const bytes = tools === null ? 0 : Buffer.byteLength(JSON.stringify(tools));
    this.add(workspaceId, userId, { sessions: 1, bytes });
  }

  activeFiles({ workspaceId, userId, files }: ActiveFilesRecord): void {
    this.add(workspaceId, userId, { bytes: Buffer.byteLength(JSON.stringify(files)) });
  }

  differences(): UsageDifference[] {
    const workspaceIds = new Set([...this.counted.keys(), ...this.held.keys()]);
    return [...workspaceIds]
      .map((workspaceId) => ({
        workspaceId,
        counted: this.counted.get(workspaceId) ?? emptyUsage(workspaceId),
        held: this.heldBy(workspaceId),
      }))
      .filter(({ counted, held }) => !isSame(counted, held));
  }

  private add(workspaceId: string, userId: string, more: Partial<Usage>): void {
    const members = this.held.get(workspaceId) ?? new Map<string, Usage>();
    this.held.set(workspaceId, members.set(userId, sumOf(members.get(userId) ?? NO_USAGE, more)));
  }

  private heldBy(workspaceId: string): WholeUsage {
    const members = [...(this.held.get(workspaceId) ?? [])]
      .map(([userId, usage]) => ({ userId, ...usage }))
      .filter((member) => !isNoUsage(member));
    return { workspaceId, ...members.reduce(sumOf, NO_USAGE), members };
  }
}

export function emptyUsage(workspaceId: string): WholeUsage {
  return { workspaceId, ...NO_USAGE, members: [] };
}

/** Whether two records have the same counts. */
export function isSame(one: WholeUsage, other: WholeUsage): boolean {
  return textOf(one) === textOf(other);
}

function textOf({ members, ...all }: WholeUsage): string {
  const ofMembers = members
    .filter((member) => !isNoUsage(member))
    .map(({ userId, ...usage }) => [userId, ...numbersOf(usage)])
    .sort(([a], [b]) => (a! < b! ? -1 : 1));
  return JSON.stringify([numbersOf(all), ofMembers]);
}

function numbersOf({ bytes, files, versions, sessions }: Usage): number[] {
  return [bytes, files, versions, sessions];
}

function sumOf(one: Usage, other: Partial<Usage>): Usage {
  const sum = (name: keyof Usage): number => one[name] + (other[name] ?? 0);
  return { bytes: sum('bytes'), files: sum('files'), versions: sum('versions'), sessions: sum('sessions') };
}

export function describeDifference({ workspaceId, counted, held }: UsageDifference): string {
  const describe = (usage: Usage): string =>
    `${usage.bytes} bytes, ${usage.files} files, ${usage.versions} versions, ${usage.sessions} sessions`;
  return `workspace ${workspaceId}: counted ${describe(counted)}; found ${describe(held)}`;
}
