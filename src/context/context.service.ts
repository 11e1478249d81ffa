import { Injectable } from '@nestjs/common';
import type { ActiveFile, ContextActiveFile, FolderPresence } from '@patchbay/protocol';
import { CatalogService } from '../tools/catalog/catalog.service.js';
import { RootsService } from '../clients/roots.service.js';
import { fieldError } from '../common/domain-error.js';
import { Config } from '../config/config.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { FileStore } from '../storage/ports/files.store.js';
import { type SessionRecord, SessionStore } from '../storage/records/sessions.js';
import { UserJobs } from '../jobs/user-jobs.js';
import { ActiveTexts } from './active-texts.service.js';
import type { ContextQueryDto } from './context.dto.js';
import { type ContextFormat, type ContextMaterial, renderContext } from './context-format.js';
import { walkFolders } from './directory-walk.js';
import { JSON_CONTEXT } from './json-context.js';
import { MARKDOWN_CONTEXT } from './markdown-context.js';
import { ReferencedFiles } from './referenced-files.js';

const FORMATS: { [F in ContextQueryDto['format']]: ContextFormat } = {
  markdown: MARKDOWN_CONTEXT,
  json: JSON_CONTEXT,
};

/** Builds the context for a model's next turn. Equal state gives equal bytes: nothing depends on the time. */
@Injectable()
export class ContextService {
  constructor(
    private readonly sessions: SessionsService,
    private readonly catalog: CatalogService,
    private readonly files: FileStore,
    private readonly store: SessionStore,
    private readonly texts: ActiveTexts,
    private readonly referenced: ReferencedFiles,
    private readonly roots: RootsService,
    private readonly jobs: UserJobs,
    private readonly config: Config,
  ) {}

  /** Renders the context of a session; only for its own user. */
  async render(
    workspaceId: string,
    sessionId: string,
    userId: string,
    { format: name, maxBytes = this.config.contextBytes, include }: ContextQueryDto,
  ): Promise<{ text: string; contentType: string }> {
    if (maxBytes > this.config.contextBytes) {
      throw fieldError('maxBytes', `must not be over ${this.config.contextBytes}`);
    }
    const session = await this.sessions.requireOwn(workspaceId, sessionId, userId);
    const format = FORMATS[name];
    // Reading from editors may be slow, so it does not occupy a slot of the queue.
    const withTexts =
      include === 'active' ? await this.texts.of(session, await this.activeFiles(session), maxBytes) : null;
    const text = await this.jobs.run(
      userId,
      async () => renderContext(await this.materialOf(session, withTexts), format, maxBytes),
      'contexts',
    );
    return { text, contentType: format.contentType };
  }

  private async materialOf(
    session: SessionRecord,
    withTexts: readonly ContextActiveFile[] | null,
  ): Promise<ContextMaterial> {
    const { workspaceId, userId } = session;
    return {
      tools: (await this.catalog.toolset(session)).contracts,
      walk: await walkFolders((folder, limit) => this.files.childrenOf(workspaceId, folder, null, limit)),
      folders: (await this.roots.list({ workspaceId, userId })).map(firstFiles),
      activeFiles: withTexts ?? (await this.activeFiles(session)),
      referencedFiles: await this.referenced.of(session),
    };
  }

  private async activeFiles({ workspaceId, id }: SessionRecord): Promise<ActiveFile[]> {
    return (await this.store.activeFilesOf(workspaceId, id)).sort(byDocPath);
  }
}

/** Files of each kind that are named per folder. */
const NAMED_FILES = 10;

/** Names the first files of a folder; the counts cover the rest. */
function firstFiles(folder: FolderPresence): FolderPresence {
  const conflicts = folder.conflicts.slice(0, NAMED_FILES);
  const behind = folder.behind.slice(0, NAMED_FILES);
  const cut = folder.conflicts.length - conflicts.length + folder.behind.length - behind.length;
  return { ...folder, conflicts, behind, more: folder.more + cut };
}

/** The order of editor tabs must not change the context. */
function byDocPath({ docPath: a }: ActiveFile, { docPath: b }: ActiveFile): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
