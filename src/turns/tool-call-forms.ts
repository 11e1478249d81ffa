import type { Json } from '@patchbay/protocol';
import { DomainError, type FieldFaults } from '../common/domain-error.js';
import { parseExactJson } from '../common/http/exact-json.js';
import { exceedsDepth, MAX_DEPTH } from '../common/http/read-body.js';

/** A posted call, whichever of the three forms it came in. `arguments` undefined: none given; null fault: sound so far. */
export interface PostedCall {
  toolCallId: string;
  name: string;
  arguments: Json;
  /** Why the arguments could not even be read; the call then fails alone. */
  argumentsFault: string | null;
}

type Plain = { [key: string]: unknown };

/** Longest toolCallId, in characters (contract.md section 1). */
const MAX_ID = 256;
const MAX_FAULTS = 20;
const NEUTRAL_KEYS = new Set(['toolCallId', 'name', 'arguments']);

/** Reads calls in our own form, OpenAI's or Anthropic's (contract.md section 3); VALIDATION_ERROR names every fault. */
export function readToolCalls(calls: readonly unknown[]): PostedCall[] {
  const fields: FieldFaults = {};
  const seen = new Map<string, number>();
  const read = calls.map((call, at) => {
    // Without a prototype, so that `__proto__` is a name like any other.
    const faults = Object.create(null) as FieldFaults;
    const posted = isPlain(call) ? readCall(call, faults) : null;
    if (!posted) faults[''] = 'must be an object';
    else checkId(posted.toolCallId, at, seen, faults, idKey(call as Plain));
    for (const [key, message] of Object.entries(faults)) {
      if (Object.keys(fields).length < MAX_FAULTS) fields[`toolCalls[${at}]${key && `.${key}`}`] = message;
    }
    return posted;
  });
  const [first] = Object.entries(fields);
  if (first) throw new DomainError('VALIDATION_ERROR', `${first[0]} ${first[1]}`, { fields });
  return read as PostedCall[];
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
  if (typeof fn.arguments !== 'string') return { ...result, argumentsFault: 'must be a string of JSON' };
  if (exceedsDepth(fn.arguments, MAX_DEPTH)) {
    return { ...result, argumentsFault: `must not be nested deeper than ${MAX_DEPTH} levels` };
  }
  try {
    return objectArguments(result, parseExactJson(fn.arguments));
  } catch {
    return { ...result, argumentsFault: 'is not valid JSON' };
  }
}

function posted(id: unknown, name: unknown, args: unknown, faults: FieldFaults, nameKey: string): PostedCall {
  if (typeof name !== 'string' || name === '') faults[nameKey] = 'must be a non-empty string';
  else if (name.length > MAX_ID || !isStorable(name))
    faults[nameKey] = `must be plain text of at most ${MAX_ID} characters`;
  return objectArguments(
    { toolCallId: id as string, name: name as string, arguments: null, argumentsFault: null },
    args,
  );
}

function objectArguments(call: PostedCall, args: unknown): PostedCall {
  if (isPlain(args)) return { ...call, arguments: args as Json, argumentsFault: null };
  return {
    ...call,
    argumentsFault: args === undefined || args === null ? 'is required' : 'must be an object',
  };
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
