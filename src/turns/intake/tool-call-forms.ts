import { cutText, type Json, JsonCount, placeId, repeatedNames } from '@patchbay/protocol';
import { type FieldFaults, REPEATED } from '../../common/domain-error.js';
import { readJsonText } from '../../tools/parsed-texts.js';

/** A posted call, whatever form it came in. */
export interface PostedCall {
  toolCallId: string;
  name: string;
  /** Null if they could not be read. */
  arguments: Json;
  /** Why they could not be read; the call then fails alone. */
  argumentsFault: string | null;
  /** The arguments were already checked against the contract. */
  checked?: true;
  /** The unreadable input, which distinguishes two requests. */
  unread?: unknown;
}

type Plain = { [key: string]: unknown };

/** Longest toolCallId, in characters. */
const MAX_ID = 256;
/** Above any configurable maximum; calls beyond it are not read. */
const MAX_CALLS = 10_000;
const NEUTRAL_KEYS = new Set(['toolCallId', 'name', 'arguments']);

/** A call that this server posts itself, with valid arguments. */
export function newCall(toolCallId: string, name: string, args: Json): PostedCall {
  return { toolCallId, name, arguments: args, argumentsFault: null, checked: true };
}

/** Reads calls in Patchbay's form or a provider's, for a request [TURN-1]. */
export function readToolCalls(calls: unknown, fault: (path: string, message: string) => void): PostedCall[] {
  if (!Array.isArray(calls)) return fail(fault, 'must be an array');
  if (calls.length === 0) return fail(fault, 'must have at least one call');
  if (calls.length > MAX_CALLS) return fail(fault, `must have at most ${MAX_CALLS} calls`);
  const seen = new Map<string, number>();
  const count = new JsonCount();
  return calls.map((call: unknown, at) => {
    // Without a prototype, so that `__proto__` is an ordinary name.
    const faults = Object.create(null) as FieldFaults;
    const posted = isPlain(call) ? readCall(call, at, faults, count) : null;
    if (!posted) faults[''] = 'must be an object';
    else checkId(posted.toolCallId, at, seen, faults, idKey(call as Plain));
    for (const [key, message] of Object.entries(faults)) fault(`[${at}]${key && `.${key}`}`, message);
    return posted ?? { toolCallId: '', name: '', arguments: null, argumentsFault: 'is required' };
  });
}

function fail(fault: (path: string, message: string) => void, message: string): PostedCall[] {
  fault('', message);
  return [];
}

/** @param count counts the JSON texts of all calls, which share one limit */
function readCall(call: Plain, at: number, faults: FieldFaults, count: JsonCount): PostedCall {
  const { id, call_id: callId, toolCallId, name, arguments: args } = call;
  refuseRepeats(call, '', faults);
  if (call.type === 'function') {
    const fn = isPlain(call.function) ? call.function : {};
    refuseRepeats(fn, 'function.', faults);
    return withJsonText(posted(id, fn.name, faults, 'function.name'), fn.arguments, count);
  }
  if (call.type === 'function_call') return withJsonText(posted(callId, name, faults, 'name'), args, count);
  if (call.type === 'tool_use') return withArguments(posted(id, name, faults, 'name'), call.input);
  if (Object.hasOwn(call, 'functionCall')) return readGemini(call.functionCall, at, faults);
  for (const key of Object.keys(call)) {
    if (!NEUTRAL_KEYS.has(key)) faults[cutText(key, 64)] = 'is not a known property';
  }
  return withArguments(posted(toolCallId, name, faults, 'name'), args);
}

/** JSON keeps only the last member of a duplicate name, which may not be the intended one. */
function refuseRepeats(object: Plain, prefix: string, faults: FieldFaults): void {
  for (const name of repeatedNames(object)) faults[prefix + cutText(name, 64)] = REPEATED;
}

/** Gemini may omit the id, or send "", and omit empty arguments. */
function readGemini(functionCall: unknown, at: number, faults: FieldFaults): PostedCall {
  if (!isPlain(functionCall)) faults.functionCall = 'must be an object';
  const { id, name, args }: Plain = isPlain(functionCall) ? functionCall : { name: '' };
  if (isPlain(functionCall)) refuseRepeats(functionCall, 'functionCall.', faults);
  const hasId = id !== undefined && id !== null && id !== '';
  const call = posted(hasId ? id : placeId(at), name, faults, 'functionCall.name');
  return withArguments(call, args ?? {});
}

function withJsonText(call: PostedCall, text: unknown, count: JsonCount): PostedCall {
  const unread = { ...call, unread: text };
  if (typeof text !== 'string') return { ...unread, argumentsFault: 'must be a string of JSON' };
  if (text === '') return withArguments(call, text);
  const { value, fault } = readJsonText(text, count);
  return fault === null ? withArguments(call, value) : { ...unread, argumentsFault: fault };
}

/** A string that no tool can be named is an unknown tool; any other type is a fault of the request. */
function posted(id: unknown, name: unknown, faults: FieldFaults, nameKey: string): PostedCall {
  if (typeof name !== 'string') faults[nameKey] = name === undefined ? 'is required' : 'must be a string';
  return { toolCallId: id as string, name: String(name), arguments: null, argumentsFault: null };
}

/** A string is left to the contract, since it may be JSON [TURN-30]. Models send "" for no arguments. */
function withArguments(call: PostedCall, args: unknown): PostedCall {
  if (args === '') return { ...call, arguments: {}, argumentsFault: null };
  if (isPlain(args) || typeof args === 'string') {
    return { ...call, arguments: args as Json, argumentsFault: null };
  }
  const argumentsFault = args === undefined || args === null ? 'is required' : 'must be an object';
  return { ...call, argumentsFault, unread: args };
}

function checkId(id: unknown, at: number, seen: Map<string, number>, faults: FieldFaults, key: string): void {
  if (typeof id !== 'string' || id === '') return void (faults[key] = 'must be a non-empty string');
  if (id.length > 2 * MAX_ID || [...id].length > MAX_ID || !isStorable(id)) {
    return void (faults[key] = `must be plain text of at most ${MAX_ID} characters`);
  }
  const earlier = seen.get(id);
  if (earlier !== undefined) faults[key] = `is the same as that of toolCalls[${earlier}]`;
  else seen.set(id, at);
}

function idKey(call: Plain): string {
  if (call.type === 'function' || call.type === 'tool_use') return 'id';
  if (call.type === 'function_call') return 'call_id';
  return Object.hasOwn(call, 'functionCall') ? 'functionCall.id' : 'toolCallId';
}

/** Whether a text can be stored: no control characters or lone surrogates. */
function isStorable(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- control characters are exactly what is refused
  return text.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(text);
}

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
