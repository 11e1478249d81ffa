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

/** How far back a session is looked at: so many calls, with so many changes of patches among them. */
const MAX_CALLS = 1_000;
const MAX_CHANGES = 5_000;
/** Most files that are named. */
const MAX_FILES = 100;
/** Beyond that the oldest go so many at a time: the list begins with the same file until the next such step. */
const STEP = 25;

/** A file as a call named it: by docPath, or by a path that only the client's tool understands, or by both. */
interface Mention {
  docPath: string | null;
  clientPath?: string;
}

/** Finds the files that a session has dealt with: those of its calls and patches that succeeded. */
@Injectable()
export class ReferencedFiles {
  constructor(
    private readonly audit: AuditStore,
    private readonly patches: PatchStore,
    private readonly files: FileStore,
    private readonly catalog: CatalogService,
  ) {}

  /** In the order in which they first came up. What has been deleted since, and folders, are not among them. */
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
    // What was deleted in the Cloud is gone; what never came into it may still be on the client.
    const wasThere = docPath !== null && (await this.files.lastDeletedAt(workspaceId, docPath)) !== null;
    return wasThere ? null : { path: clientPath, docPath: null };
  }
}

/** The first of the events, up to the one whose patch goes beyond what is worth reading back. */
function withinChanges(events: readonly AuditEvent[]): AuditEvent[] {
  let changes = 0;
  const end = events.findIndex(({ fields }) => {
    changes += typeof fields.changes === 'number' ? fields.changes : 0;
    return changes > MAX_CHANGES;
  });
  return events.slice(0, end === -1 ? events.length : end);
}

/** null for what a tool calls a path although the Cloud would not. */
function docPathOf(path: string): string | null {
  try {
    return readCloudPath(path).docPath;
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
}

/** The last hundred at most, from the last step on. */
export function lastSteps<T>(items: readonly T[], most = MAX_FILES, step = STEP): T[] {
  return items.slice(Math.ceil(Math.max(0, items.length - most) / step) * step);
}
