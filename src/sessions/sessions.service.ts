import { Injectable } from '@nestjs/common';
import { type ActiveFile, docPathFault, type Session } from '@patchbay/protocol';
import { Subject } from 'rxjs';
import { Clock, isoTime } from '../common/clock.js';
import { DomainError, fieldError, type FieldFaults } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { isUuid, newId } from '../common/ids.js';
import { KeyLocks } from '../common/key-locks.js';
import { Quotas } from '../limits/quotas.js';
import { type SessionRecord, SessionStore } from '../storage/records/sessions.js';
import { directSessionId } from './direct-session.js';
import type { ActiveFileDto, CreateSessionDto, SessionsQueryDto } from './sessions.dto.js';

const MAX_FAULTS = 20;

/** Agent conversations: who may post turns into them, and the client of their calls. */
@Injectable()
export class SessionsService {
  /** Serializes lists, since clients may send the next one early and the store might reorder them. */
  private readonly lists = new KeyLocks();

  readonly created$ = new Subject<SessionRecord>();

  constructor(
    private readonly store: SessionStore,
    private readonly quotas: Quotas,
    private readonly clock: Clock,
  ) {}

  create(workspaceId: string, userId: string, request: CreateSessionDto): Promise<Session> {
    return this.begin(newId(), workspaceId, userId, request).then(sessionView);
  }

  /** The user's session for direct calls, created by the first of them. */
  async forDirectCalls(workspaceId: string, userId: string): Promise<SessionRecord> {
    const id = directSessionId({ workspaceId, userId });
    return (
      (await this.store.byId(workspaceId, id)) ?? this.begin(id, workspaceId, userId, { conversationId: id })
    );
  }

  private async begin(
    id: string,
    workspaceId: string,
    userId: string,
    request: CreateSessionDto,
  ): Promise<SessionRecord> {
    const session: SessionRecord = {
      id,
      workspaceId,
      conversationId: request.conversationId ?? newId(),
      userId,
      clientId: request.clientId ?? null,
      tools: request.tools ?? null,
      createdAt: await this.createdAt(workspaceId, userId),
    };
    const addition = { sessions: 1, bytes: sizeOf(session.tools) };
    await this.quotas.write(session, addition, () => this.store.insert(session));
    this.created$.next(session);
    return session;
  }

  /** Never before the user's newest session, even if the clock was set back, so the order stays right. */
  private async createdAt(workspaceId: string, userId: string): Promise<number> {
    const [newest] = await this.store.ofUser(workspaceId, userId, null, 1);
    return Math.max(this.clock.now(), newest === undefined ? 0 : newest.createdAt + 1);
  }

  /** The user's own sessions, newest first. */
  async list(
    workspaceId: string,
    userId: string,
    { limit, cursor }: SessionsQueryDto,
  ): Promise<{ sessions: Session[]; nextCursor: string | null }> {
    const found = await this.store.ofUser(workspaceId, userId, cursor ?? null, limit + 1);
    const page = found.slice(0, limit);
    return { sessions: page.map(sessionView), nextCursor: found.length > limit ? page.at(-1)!.id : null };
  }

  async get(workspaceId: string, sessionId: string, userId: string): Promise<Session> {
    return sessionView(await this.requireOwn(workspaceId, sessionId, userId));
  }

  /** Replaces the session's list of Active Files. */
  async replaceActiveFiles(
    workspaceId: string,
    sessionId: string,
    userId: string,
    files: readonly ActiveFileDto[],
  ): Promise<ActiveFile[]> {
    return this.lists.hold([`${workspaceId}/${sessionId.toLowerCase()}`], async () => {
      const session = await this.requireOwn(workspaceId, sessionId, userId);
      await checkDocPaths(files);
      const activeFiles = files.map((file): ActiveFile => ({ ...file }));
      const before = await this.store.activeFilesOf(workspaceId, session.id);
      const addition = { bytes: Math.max(0, sizeOf(activeFiles) - sizeOf(before)) };
      await this.quotas.write({ workspaceId, userId }, addition, () =>
        this.store.replaceActiveFiles(workspaceId, session.id, activeFiles),
      );
      return activeFiles;
    });
  }

  /** The session's Active Files. */
  activeFiles(workspaceId: string, sessionId: string): Promise<ActiveFile[]> {
    return this.store.activeFilesOf(workspaceId, sessionId);
  }

  /** The session, of any user. */
  async require(workspaceId: string, sessionId: string): Promise<SessionRecord> {
    if (!isUuid(sessionId)) throw fieldError('sessionId', 'must be a UUID');
    const session = await this.store.byId(workspaceId, sessionId.toLowerCase());
    if (!session) throw new DomainError('NOT_FOUND', 'There is no such session in this workspace.');
    return session;
  }

  /** The session, only for its own user. */
  async requireOwn(workspaceId: string, sessionId: string, userId: string): Promise<SessionRecord> {
    const session = await this.require(workspaceId, sessionId);
    if (session.userId !== userId) throw new DomainError('FORBIDDEN', 'The session belongs to another user.');
    return session;
  }
}

/** In slices: normalizing a thousand long paths takes 0.1 s. */
async function checkDocPaths(files: readonly ActiveFileDto[]): Promise<void> {
  const fields: FieldFaults = {};
  const seen = new Set<string>();
  for (const [at, { docPath }] of files.entries()) {
    await yieldIfBusy();
    const fault = seen.has(docPath) ? 'occurs twice' : docPathFault(docPath);
    if (fault !== null && Object.keys(fields).length < MAX_FAULTS)
      fields[`activeFiles[${at}].docPath`] = fault;
    seen.add(docPath);
  }
  const [first] = Object.entries(fields);
  if (first) throw new DomainError('VALIDATION_ERROR', `${first[0]} ${first[1]}`, { fields });
}

/** Approximate stored size of a list. */
function sizeOf(list: readonly unknown[] | null): number {
  return list === null || list.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(list));
}

function sessionView({ id, createdAt, ...session }: SessionRecord): Session {
  const { conversationId, workspaceId, userId, clientId, tools } = session;
  return {
    sessionId: id,
    conversationId,
    workspaceId,
    userId,
    clientId,
    tools,
    createdAt: isoTime(createdAt),
  };
}
