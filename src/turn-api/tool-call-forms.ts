import { type Json, parseExactJson } from '@patchbay/protocol';
import type { FieldFaults } from '../common/domain-error.js';
import { exceedsDepth, MAX_DEPTH } from '../common/http/read-body.js';

/** A posted call, whichever of the three forms it came in. */
export interface PostedCall {
  toolCallId: string;
  name: string;
  /** Null where they could not even be read. */
  arguments: Json;
  /** Why they could not; the call then fails alone. */
  argumentsFault: string | null;
  /** The arguments were held against the contract already. */
  checked?: true;
  /** What was sent in their place, so that two requests that differ in it are told apart. */
  unread?: unknown;
}

type Plain = { [key: string]: unknown };

/** Longest toolCallId, in characters. */
const MAX_ID = 256;
const NEUTRAL_KEYS = new Set(['toolCallId', 'name', 'arguments']);

/** A call that this server posts itself, with arguments that are sound. */
export function newCall(toolCallId: string, name: string, args: Json): PostedCall {
  return { toolCallId, name, arguments: args, argumentsFault: null, checked: true };
}

/** Reads calls in our own form, OpenAI's or Anthropic's, for a request envelope [TURN-1]. */
export function readToolCalls(calls: unknown, fault: (path: string, message: string) => void): PostedCall[] {
  if (!Array.isArray(calls)) return fail(fault, 'must be an array');
  if (calls.length === 0) return fail(fault, 'must have at least one call');
  const seen = new Map<string, number>();
  return calls.map((call: unknown, at) => {
    // Without a prototype, so that `__proto__` is a name like any other.
    const faults = Object.create(null) as FieldFaults;
    const posted = isPlain(call) ? readCall(call, faults) : null;
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

function readCall(call: Plain, faults: FieldFaults): PostedCall {
  if (call.type === 'function') return readOpenAi(call, faults);
  if (call.type === 'tool_use') return posted(call.id, call.name, call.input, faults, 'name');
  for (const key of Object.keys(call)) {
    if (!NEUTRAL_KEYS.has(key)) faults[key.slice(0, 64)] = 'is not a known property';
  }
  return posted(call.toolCallId, call.name, call.arguments, faults, 'name');
}

function readOpenAi(call: Plain, faults: FieldFaults): PostedCall {
  const fn = isPlain(call.function) ? call.function : {};
  const result = posted(call.id, fn.name, undefined, faults, 'function.name');
  const unread = { ...result, unread: fn.arguments };
  if (typeof fn.arguments !== 'string') return { ...unread, argumentsFault: 'must be a string of JSON' };
  if (exceedsDepth(fn.arguments, MAX_DEPTH)) {
    return { ...unread, argumentsFault: `must not be nested deeper than ${MAX_DEPTH} levels` };
  }
  try {
    return objectArguments(result, parseExactJson(fn.arguments));
  } catch {
    return { ...unread, argumentsFault: 'is not valid JSON' };
  }
}

/** A name that no tool can have is that of an unknown tool; only what is no string is a fault of the request. */
function posted(id: unknown, name: unknown, args: unknown, faults: FieldFaults, nameKey: string): PostedCall {
  if (typeof name !== 'string') faults[nameKey] = name === undefined ? 'is required' : 'must be a string';
  return objectArguments(
    { toolCallId: id as string, name: String(name), arguments: null, argumentsFault: null },
    args,
  );
}

function objectArguments(call: PostedCall, args: unknown): PostedCall {
  if (isPlain(args)) return { ...call, arguments: args as Json, argumentsFault: null };
  const argumentsFault = args === undefined || args === null ? 'is required' : 'must be an object';
  return { ...call, argumentsFault, unread: args };
}

function checkId(id: unknown, at: number, seen: Map<string, number>, faults: FieldFaults, key: string): void {
  if (typeof id !== 'string' || id === '') return void (faults[key] = 'must be a non-empty string');
  if ([...id].length > MAX_ID || !isStorable(id)) {
    return void (faults[key] = `must be plain text of at most ${MAX_ID} characters`);
  }
  const earlier = seen.get(id);
  if (earlier !== undefined) faults[key] = `is the same as that of toolCalls[${earlier}]`;
  else seen.set(id, at);
}

function idKey(call: Plain): string {
  return call.type === 'function' || call.type === 'tool_use' ? 'id' : 'toolCallId';
}

/** Strings that end up in a text column: no NUL or other control character, no lone surrogate. */
function isStorable(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- control characters are exactly what is refused
  return text.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(text);
}

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
