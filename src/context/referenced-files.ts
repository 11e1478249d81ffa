import { Injectable } from '@nestjs/common';
import type { AuditEvent, ReferencedFile } from '@patchbay/protocol';
import { CatalogService } from '../tools/catalog/catalog.service.js';
import type { Toolset } from '../tools/catalog/toolset.js';
import { DomainError } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { readCloudPath } from '../files/cloud-path.js';
import { AuditStore } from '../storage/ports/audit.store.js';
import { FileStore } from '../storage/ports/files.store.js';
import { PatchStore } from '../storage/ports/patches.store.js';
import type { SessionRecord } from '../storage/records/sessions.js';

/** Limits of how far back a session is read: calls, and patch changes among them. */
const MAX_CALLS = 1_000;
const MAX_CHANGES = 5_000;
/** Files that are named. */
const MAX_FILES = 100;
/** Beyond that, the oldest 25 are dropped at once, so the list keeps its first entry for longer. */
const STEP = 25;

/** A file as a call named it: by docPath, by a path of the client's tool, or both. */
interface Mention {
  docPath: string | null;
  clientPath?: string;
}

/** Finds the files of a session: those of its successful calls and patches. */
@Injectable()
export class ReferencedFiles {
  constructor(
    private readonly audit: AuditStore,
    private readonly patches: PatchStore,
    private readonly files: FileStore,
    private readonly catalog: CatalogService,
  ) {}

  /** In order of first use, without deleted files and folders. */
  async of(session: SessionRecord): Promise<ReferencedFile[]> {
    const { workspaceId, id } = session;
    const events = await this.audit.latestSuccesses(workspaceId, id, MAX_CALLS);
    const toolset = await this.catalog.toolset(session);
    const mentions = new Map<string, Mention>();
    for (const event of withinChanges(events).reverse()) {
      await yieldIfBusy();
      for (const mention of await this.mentionsOf(workspaceId, event, toolset)) {
        const key = mention.docPath ?? `${mention.clientPath} of a client`;
        if (!mentions.has(key)) mentions.set(key, mention);
      }
    }
    const last = lastSteps([...mentions.values()]);
    const found = await Promise.all(last.map((mention) => this.find(workspaceId, mention)));
    return found.filter((file) => file !== null);
  }

  private async mentionsOf(
    workspaceId: string,
    { fields }: AuditEvent,
    toolset: Toolset,
  ): Promise<Mention[]> {
    const { batchId, path, toolName } = fields;
    if (typeof batchId === 'string') {
      return (await this.patches.docPathsOf(workspaceId, batchId)).map((docPath) => ({ docPath }));
    }
    if (typeof path !== 'string' || typeof toolName !== 'string') return [];
    if (toolset.find(toolName)?.contract.executionLocation === 'client') {
      const { docPath, displayPath } = fields;
      const clientPath = typeof displayPath === 'string' ? displayPath : path;
      return [{ docPath: typeof docPath === 'string' ? docPath : null, clientPath }];
    }
    const docPath = docPathOf(path);
    return docPath === null ? [] : [{ docPath }];
  }

  private async find(workspaceId: string, mention: Mention): Promise<ReferencedFile | null> {
    const { docPath, clientPath } = mention;
    const entry = docPath === null ? null : await this.files.at(workspaceId, docPath);
    if (entry?.kind === 'file') return { path: entry.path, docPath: entry.docPath };
    if (clientPath === undefined) return null;
    // A file deleted in the Cloud is gone; one that never was in the Cloud may still be on the client.
    const wasInCloud = docPath !== null && (await this.files.lastDeletedAt(workspaceId, docPath)) !== null;
    return wasInCloud ? null : { path: clientPath, docPath: null };
  }
}

/** The first events, up to the one whose patch exceeds the limit of changes. */
function withinChanges(events: readonly AuditEvent[]): AuditEvent[] {
  let changes = 0;
  const end = events.findIndex(({ fields }) => {
    changes += typeof fields.changes === 'number' ? fields.changes : 0;
    return changes > MAX_CHANGES;
  });
  return events.slice(0, end === -1 ? events.length : end);
}

/** null for a tool's path that is no valid Cloud path. */
function docPathOf(path: string): string | null {
  try {
    return readCloudPath(path).docPath;
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
}

/** At most the last hundred, starting at a multiple of the step. */
export function lastSteps<T>(items: readonly T[], most = MAX_FILES, step = STEP): T[] {
  return items.slice(Math.ceil(Math.max(0, items.length - most) / step) * step);
}
