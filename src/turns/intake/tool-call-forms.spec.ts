import { type PostedCall, readToolCalls } from './tool-call-forms.js';

const openAi = (args: unknown): unknown => ({
  id: 'c',
  type: 'function',
  function: { name: 'tool', arguments: args },
});
const anthropic = (input: unknown): unknown => ({ type: 'tool_use', id: 'c', name: 'tool', input });
const responses = (args: unknown): unknown => ({
  ...{ type: 'function_call', id: 'fc_1', call_id: 'c', name: 'tool', arguments: args, status: 'completed' },
});
const gemini = (args: unknown, id: unknown = 'c'): unknown => ({ functionCall: { id, name: 'tool', args } });
const neutral = (args: unknown): unknown => ({ toolCallId: 'c', name: 'tool', arguments: args });

const read = (calls: unknown): PostedCall[] =>
  readToolCalls(calls, (path, message) => {
    throw new Error(`${path} ${message}`);
  });

function faultsOf(calls: unknown): Record<string, string> {
  const faults: Record<string, string> = {};
  readToolCalls(calls, (path, message) => (faults[`toolCalls${path}`] = message));
  return faults;
}

describe('a posted call', () => {
  it.each([
    ['ours', neutral({ a: 1 })],
    ['OpenAI’s', openAi('{"a":1}')],
    ['OpenAI’s Responses', responses('{"a":1}')],
    ['Anthropic’s', anthropic({ a: 1 })],
    ['Gemini’s', gemini({ a: 1 })],
  ])('is read equally from %s form [TURN-1]', (_, call) => {
    expect(read([call])).toEqual([
      { toolCallId: 'c', name: 'tool', arguments: { a: 1 }, argumentsFault: null },
    ]);
  });

  it.each([
    [neutral(undefined), 'is required'],
    [neutral(null), 'is required'],
    [neutral([]), 'must be an object'],
    [anthropic(undefined), 'is required'],
    [anthropic(7), 'must be an object'],
    [openAi(undefined), 'must be a string of JSON'],
    [openAi({}), 'must be a string of JSON'],
    [openAi('{'), `is not valid JSON: line 1, column 2: it ends too early, behind "{"`],
    [openAi(' '), `is not valid JSON: line 1, column 2: it ends too early, behind " "`],
    [responses(undefined), 'must be a string of JSON'],
    [responses('[1}'), `is not valid JSON: line 1, column 3, at "}" behind "[1"`],
    [gemini([]), 'must be an object'],
    [openAi('null'), 'is required'],
    [openAi('[]'), 'must be an object'],
    [openAi('['.repeat(100_000)), 'is nested deeper than 250 levels'],
  ])('%j fails alone', (call, fault) => {
    expect(read([call])).toMatchObject([{ arguments: null, argumentsFault: fault }]);
  });

  it.each([
    ['ours', neutral('{}')],
    ['OpenAI’s', openAi('"{}"')],
    ['Anthropic’s', anthropic('{}')],
    ['Gemini’s', gemini('{}')],
  ])('leaves string arguments to the contract, in %s form', (_, call) => {
    expect(read([call])).toMatchObject([{ arguments: '{}', argumentsFault: null }]);
  });

  it.each([
    ['OpenAI’s', openAi('')],
    ['OpenAI’s Responses', responses('')],
    ['Gemini’s', gemini(undefined)],
    ['Gemini’s', gemini(null)],
    ['Gemini’s', gemini('')],
    ['our', neutral('')],
    ['Anthropic’s', anthropic('')],
  ])('without arguments in %s form has empty ones [TURN-31]', (_, call) => {
    expect(read([call])).toEqual([{ toolCallId: 'c', name: 'tool', arguments: {}, argumentsFault: null }]);
  });

  it('from Gemini without an id is named by its position, deterministically [TURN-1]', () => {
    const calls = [neutral({}), gemini({}, null), gemini({}, ''), { functionCall: { name: 'tool' } }];
    const ids = () => read(calls).map(({ toolCallId }) => toolCallId);
    expect(ids()).toEqual(['c', 'call:1', 'call:2', 'call:3']);
    expect(ids()).toEqual(ids());
  });

  it('is refused if Gemini’s functionCall or its id has the wrong type', () => {
    expect(faultsOf([{ functionCall: null }, { functionCall: {} }, gemini({}, 7)])).toEqual({
      'toolCalls[0].functionCall': 'must be an object',
      'toolCalls[1].functionCall.name': 'is required',
      'toolCalls[2].functionCall.id': 'must be a non-empty string',
    });
  });

  it('is refused with unknown keys in Patchbay’s form, but not in the others', () => {
    const own = { ...(neutral({}) as object), index: 0 };
    const withProto = JSON.parse('{"toolCallId":"c","name":"tool","arguments":{},"__proto__":{}}') as unknown;
    expect(faultsOf([own, withProto])).toEqual({
      'toolCalls[0].index': 'is not a known property',
      'toolCalls[1].__proto__': 'is not a known property',
      'toolCalls[1].toolCallId': 'is the same as that of toolCalls[0]',
    });
    expect(faultsOf([{ ...(openAi('{}') as object), index: 0 }])).toEqual({});
    expect(faultsOf([{ ...(anthropic({}) as object), cache_control: null }])).toEqual({});
    expect(faultsOf([{ ...(responses('{}') as object), namespace: 'x' }])).toEqual({});
    expect(faultsOf([{ ...(gemini({}) as object), thoughtSignature: 'AAAA' }])).toEqual({});
  });

  it.each([null, 7, 'call', [], undefined])('is refused if it is %j', (call) => {
    expect(faultsOf([call])).toEqual({ 'toolCalls[0]': 'must be an object' });
  });

  it.each(['', 7, null, 'x'.repeat(257), 'a\u0000b', 'a\nb', '\ud800'])('is refused with the id %j', (id) => {
    expect(Object.keys(faultsOf([{ toolCallId: id, name: 'tool', arguments: {} }]))).toEqual([
      'toolCalls[0].toolCallId',
    ]);
    const own = { id, type: 'function', function: { name: 'tool', arguments: '{}' } };
    expect(Object.keys(faultsOf([own]))).toEqual(['toolCalls[0].id']);
  });

  it.each([7, null, undefined, {}])('is refused with the name %j', (name) => {
    expect(Object.keys(faultsOf([{ toolCallId: 'c', name, arguments: {} }]))).toEqual(['toolCalls[0].name']);
    const own = { id: 'c', type: 'function', function: { name, arguments: '{}' } };
    expect(Object.keys(faultsOf([own]))).toEqual(['toolCalls[0].function.name']);
  });

  it.each(['', 'x'.repeat(300), 'a\nb', '\ud800'])('may have the name %j, which no tool has', (name) => {
    expect(read([{ toolCallId: 'c', name, arguments: {} }])).toMatchObject([{ name }]);
  });

  it('that cannot be read is distinguished by what was sent', () => {
    const unread = [openAi('{bad1'), openAi('{bad2'), neutral([1]), neutral([2])].map((call) => read([call]));
    expect(new Set(unread.map((calls) => JSON.stringify(calls))).size).toBe(4);
  });

  it('may have any plain text as id', () => {
    for (const toolCallId of ['x'.repeat(256), '😀'.repeat(256), 'call/1 ü', '__proto__']) {
      expect(read([{ toolCallId, name: 'tool', arguments: {} }])).toMatchObject([{ toolCallId }]);
    }
  });

  it('is refused with a duplicate id, in any form', () => {
    expect(faultsOf([neutral({}), openAi('{}'), anthropic({}), responses(''), gemini({})])).toEqual({
      'toolCalls[1].id': 'is the same as that of toolCalls[0]',
      'toolCalls[2].id': 'is the same as that of toolCalls[0]',
      'toolCalls[3].call_id': 'is the same as that of toolCalls[0]',
      'toolCalls[4].functionCall.id': 'is the same as that of toolCalls[0]',
    });
  });

  it.each([
    [[], 'must have at least one call'],
    [{}, 'must be an array'],
    ['[]', 'must be an array'],
  ])('cannot be read from %j', (calls, fault) => {
    expect(faultsOf(calls)).toEqual({ toolCalls: fault });
  });
});
