import type {
  AuditPage,
  ErrorBody,
  ErrorCode,
  InvokeResult,
  JsonObject,
  TurnResult,
  TurnRequest,
} from '@patchbay/protocol';

/*
 * What docs/openapi.json shows beside its schemas. It was told by a server, and test/api-examples.spec.ts asks one again:
 * all but ids and times has to be the same.
 */

export interface Example<T> {
  summary: string;
  value: T;
}

const READ = { name: 'workspace_read_file', arguments: { docPath: 'notes/today.md' } };
const CREATE = {
  name: 'workspace_create_file',
  arguments: { path: 'notes/tomorrow.md', content: '# Tomorrow\n' },
};

/** Bodies of postTurn. The answer to one is below by the same name. */
export const TURN_REQUESTS: { [name: string]: Example<TurnRequest> } = {
  patchbay: {
    summary: 'A call in our own form',
    value: { toolCalls: [{ toolCallId: 'call_1', ...READ }] },
  },
  openai: {
    summary: "A call as OpenAI's chat completions have it",
    value: {
      toolCalls: [
        {
          type: 'function',
          id: 'call_2',
          function: { name: READ.name, arguments: JSON.stringify(READ.arguments) },
        },
      ],
      resultFormat: 'openai',
    },
  },
  'openai-responses': {
    summary: "A call as OpenAI's Responses API has it",
    value: {
      toolCalls: [
        {
          type: 'function_call',
          call_id: 'call_3',
          name: READ.name,
          arguments: JSON.stringify(READ.arguments),
        },
      ],
      resultFormat: 'openai-responses',
    },
  },
  anthropic: {
    summary: "A call as Anthropic's messages have it",
    value: {
      toolCalls: [{ type: 'tool_use', id: 'toolu_4', name: READ.name, input: READ.arguments }],
      resultFormat: 'anthropic',
    },
  },
  gemini: {
    summary: 'A call as Gemini has it',
    value: {
      toolCalls: [{ functionCall: { name: READ.name, args: READ.arguments } }],
      resultFormat: 'gemini',
    },
  },
  open: {
    summary: 'A call that a client has to run, not waited for',
    value: { turnId: 'add-tomorrow', toolCalls: [{ toolCallId: 'call_5', ...CREATE }], waitMs: 0 },
  },
};

const SESSION = {
  sessionId: '01a20633-9f2c-717c-a73b-310f6d1a74a1',
  conversationId: '01a20633-9f2c-717c-a73b-37ec145c090c',
};
const READ_TURN = '01a20633-a18c-71a9-9424-86645887da38';
const READ_CALL = { toolCallId: 'call_2', callId: '01a20633-a19a-73e3-98e5-9ae0ce0cecff' };
const READ_RESULT = {
  success: true,
  docPath: 'notes/today.md',
  path: '/notes/today.md',
  source: 'cloud',
  sha256: '0438e1f6a52d130aff81d4002078707dc706c86de3753ceb933e2ae59f0d758c',
  sizeBytes: 8,
  errorCode: null,
  content: '# Today\n',
  lineCount: 1,
  startLine: 1,
  endLine: 1,
  isTruncated: false,
  message: '',
};

function answered(result: TurnResult): InvokeResult<TurnResult> {
  return { successful: true, errors: [], warnings: [], result };
}

const FINAL: { [name: string]: Example<InvokeResult<TurnResult>> } = {
  openai: {
    summary: 'Every call has ended; `messages` are for the next request to the model',
    value: answered({
      kind: 'final',
      ...SESSION,
      turnId: READ_TURN,
      status: 'completed',
      toolCalls: [],
      toolResults: [
        {
          ...READ_CALL,
          name: READ.name,
          status: 'succeeded',
          result: READ_RESULT,
          error: null,
          executionMs: 1,
          endedAt: '2026-11-23T02:19:36.747Z',
        },
      ],
      messages: [{ role: 'tool', tool_call_id: READ_CALL.toolCallId, content: JSON.stringify(READ_RESULT) }],
    }),
  },
};

const CONTINUATION: { [name: string]: Example<InvokeResult<TurnResult>> } = {
  open: {
    summary: 'A call waits for a client; ask for the turn again',
    value: answered({
      kind: 'client_tool_continuation',
      ...SESSION,
      turnId: 'add-tomorrow',
      status: 'open',
      toolCalls: [
        {
          toolCallId: 'call_5',
          callId: '01a20633-a29b-75cb-b203-eef39f1ab4ed',
          ...CREATE,
          executionLocation: 'client',
          status: 'pending',
          attempt: 0,
          clientId: null,
          deadlines: { deliveryAt: '2026-11-23T02:24:36.987Z', approvalAt: null, executionAt: null },
        },
      ],
      toolResults: [],
    }),
  },
};

function audited(seq: number, eventId: string, step: string, at: string, fields: JsonObject = {}) {
  return {
    ...{ seq, eventId, name: `Tool.ReadFile.${step}`, at },
    ...{ ...SESSION, turnId: READ_TURN, ...READ_CALL, attempt: null },
    actor: { userId: '01a20633-9a86-75f1-89b4-7f8e71377b7f', clientId: null },
    fields: { toolName: READ.name, path: 'notes/today.md', ...fields },
  };
}

/** An event of that turn as a whole. */
function auditedTurn(seq: number, eventId: string, step: string, at: string, fields: JsonObject) {
  return {
    ...{ seq, eventId, name: `Turn.${step}`, at },
    ...{ ...SESSION, turnId: READ_TURN, toolCallId: null, callId: null, attempt: null },
    actor: { userId: '01a20633-9a86-75f1-89b4-7f8e71377b7f', clientId: null },
    fields,
  };
}

const AUDIT: { [name: string]: Example<AuditPage> } = {
  openai: {
    summary: 'Of the turn that read a file, with `?turnId=`',
    value: {
      events: [
        auditedTurn(5, '01a20633-a19a-73e3-98e5-9b1e0c2a7d10', 'Accepted', '2026-11-23T02:19:36.716Z', {
          callCount: 1,
        }),
        audited(6, '01a20633-a19a-73e3-98e5-9fca4f2b0660', 'Accepted', '2026-11-23T02:19:36.716Z'),
        audited(7, '01a20633-a19a-73e3-98e5-a14ae2cd8560', 'Executing', '2026-11-23T02:19:36.716Z'),
        audited(8, '01a20633-a1ab-70e5-b136-ead8fc9f0954', 'ResultReceived', '2026-11-23T02:19:36.747Z', {
          success: true,
          errorCode: null,
        }),
        auditedTurn(9, '01a20633-a1ab-70e5-b136-eca6d0f8b2c1', 'Completed', '2026-11-23T02:19:36.747Z', {
          status: 'completed',
          outcomes: { succeeded: 1 },
        }),
      ],
      nextCursor: null,
    },
  },
};

/** Answers by operation id and status; each by the name of the turn that it is about. */
export const ANSWER_EXAMPLES: {
  [operationId: string]: { [status: string]: { [name: string]: Example<object> } };
} = {
  postTurn: { 200: FINAL, 202: CONTINUATION },
  queryAudit: { 200: AUDIT },
};

/** Bodies of requests, by the schema that they have. */
export const REQUEST_EXAMPLES: { [schema: string]: { [name: string]: Example<object> } } = {
  PostTurnDto: TURN_REQUESTS,
};

/** An error of each code that a caller meets first. */
export const ERROR_EXAMPLES: { [code in ErrorCode]?: Example<ErrorBody> } = {
  VALIDATION_ERROR: {
    summary: 'A turn of a call without a name, and with a negative `waitMs`',
    value: {
      error: 'toolCalls[0].name is required (and 1 more)',
      code: 'VALIDATION_ERROR',
      fields: { 'toolCalls[0].name': 'is required', waitMs: 'must not be less than 0' },
    },
  },
  INVALID_TOKEN: {
    summary: 'A request without a token',
    value: { error: 'No valid token found in Authorization header or cookie', code: 'INVALID_TOKEN' },
  },
  FORBIDDEN: {
    summary: "A workspace that is somebody else's, or that there is not",
    value: { error: 'Access forbidden: User is not a member of this workspace', code: 'FORBIDDEN' },
  },
};
