import { Injectable } from '@nestjs/common';
import { auditToolName, type Json, JsonCount, shortText } from '@patchbay/protocol';
import { CatalogService } from '../tools/catalog/catalog.service.js';
import type { Tool } from '../tools/catalog/tool.js';
import { RootsService } from '../clients/roots.service.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import type { Sending } from '../common/http/once-over.js';
import { newId } from '../common/ids.js';
import { Config } from '../config/config.js';
import { SessionsService } from '../sessions/sessions.service.js';
import type { SessionRecord } from '../storage/records/sessions.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import { diskChange } from '../tools/disk-change.js';
import type { ToolContext } from '../tools/tool.js';
import { type ServerToolOutcome, ToolRunner } from '../tools/tool-runner.js';
import { throwIfFaulty } from '../tools/tool-schemas.js';
import { type ReadArguments, readArguments } from '../turns/intake/call-arguments.js';
import { jsonBytes } from '../turns/state/result-budget.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { type ClientCallAnswer, ClientCalls } from './client-calls.js';
import type { ToolCallDto } from './tool-calls.dto.js';

const MAX_NAME = 256;

/** Runs one tool for an HTTP caller, outside of any turn. */
@Injectable()
export class ToolCallsService {
  constructor(
    private readonly catalog: CatalogService,
    private readonly runner: ToolRunner,
    private readonly clientCalls: ClientCalls,
    private readonly sessions: SessionsService,
    private readonly workspaces: WorkspacesService,
    private readonly roots: RootsService,
    private readonly turns: TurnStore,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  /**
   * Faults are thrown in the order: session, tool, arguments, and then whatever the tool finds.
   * @param sending the response that the answer goes out with
   */
  async call(
    workspaceId: string,
    userId: string,
    request: ToolCallDto,
    sending: Sending,
  ): Promise<ClientCallAnswer> {
    const { sessionId } = request;
    const session =
      sessionId === undefined ? null : await this.sessions.requireOwn(workspaceId, sessionId, userId);
    const tool = (await this.catalog.toolset(session)).find(request.tool);
    if (tool === null) throw unknownTool(request.tool);
    const isClients = await this.isClients(workspaceId, tool);
    const given = request.args === '' ? {} : (request.args ?? (isClients ? {} : null));
    const read = readArguments(tool, given as Json, new JsonCount());
    const refusal = session && (await this.refusal(session, tool, read));
    if (isClients) {
      throwIfFaulty(read.faults);
      if (refusal) throw refusal;
      request.args = read.args;
      return this.clientCalls.call(workspaceId, userId, tool, request, sending);
    }
    const context: ToolContext = {
      ...{ workspaceId, userId, turnId: null, toolCallId: null, callId: null },
      ...{ sessionId: session?.id ?? null, conversationId: session?.conversationId ?? null },
    };
    const { result, error } = await this.run(tool, read, refusal, context);
    return { success: error === null, result, error: error?.message ?? null, open: false };
  }

  /** A client has to do with the call: it runs the tool, or asks a person before the server does [APPROVAL-5]. */
  private async isClients(workspaceId: string, { contract, definition }: Tool): Promise<boolean> {
    const { name, executionLocation } = contract;
    if (executionLocation === 'client' || !definition.changesCloud) return executionLocation === 'client';
    const asked: readonly string[] = await this.workspaces.approvals(workspaceId);
    return asked.includes(name);
  }

  /** Of a session's call that is sound, yet would change only the Cloud's copy of what is on the user's disk [SESSION-3]. */
  private async refusal(
    session: SessionRecord,
    { definition }: Tool,
    { args, faults }: ReadArguments,
  ): Promise<DomainError | null> {
    if (faults.length > 0 || !definition.changesCloud) return null;
    const found = diskChange(definition, args, { session, folders: await this.roots.foldersOf(session) });
    return found && new DomainError('CONFLICT', found.message);
  }

  private async run(
    tool: Tool,
    { args, faults }: ReadArguments,
    refusal: DomainError | null,
    context: ToolContext,
  ): Promise<ServerToolOutcome> {
    const { name } = tool.contract;
    try {
      throwIfFaulty(faults);
      if (refusal) throw refusal;
      const outcome = await this.runner.run(name, args, context);
      this.requireRoom(name, outcome.result);
      await this.record(tool, args, context, outcome.error?.code ?? null);
      return outcome;
    } catch (error) {
      const code = error instanceof DomainError ? error.code : 'INTERNAL_ERROR';
      await this.record(tool, args, context, code);
      throw error;
    }
  }

  /** A result that no turn could keep is refused here too. */
  private requireRoom(tool: string, result: Json): void {
    const { maxResultBytes } = this.config;
    const bytes = jsonBytes(result);
    if (bytes <= maxResultBytes) return;
    throw new DomainError(
      'TOO_LARGE',
      `The result of ${tool} has ${bytes} bytes of JSON, over the ${maxResultBytes} that one call may have. Ask for less: ` +
        'a smaller maxBytes, a range, a narrower path or search. The bytes of a whole file are at GET …/contents/<path>.',
    );
  }

  /** One event a call, whatever came of it. */
  private async record(
    tool: Tool,
    args: Json,
    { workspaceId, userId, sessionId, conversationId }: ToolContext,
    errorCode: string | null,
  ): Promise<void> {
    const { name, category } = tool.contract;
    const event = {
      eventId: newId(),
      name: `Tool.${auditToolName(name, category)}.ResultReceived`,
      at: this.clock.now(),
      ...{ sessionId, conversationId, turnId: null, toolCallId: null, callId: null, attempt: null },
      actor: { userId, clientId: null },
      fields: {
        toolName: name,
        ...tool.subjectOf(args),
        success: errorCode === null,
        ...(errorCode !== null && { errorCode }),
      },
    };
    await this.turns.record(workspaceId, [event]);
  }
}

function unknownTool(name: string): DomainError {
  return new DomainError('NOT_FOUND', `Tool '${shortText(name, MAX_NAME)}' not found`);
}
