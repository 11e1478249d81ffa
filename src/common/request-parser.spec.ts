import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { DomainError, type FieldFaults } from './domain-error.js';
import {
  FromBooleanText,
  FromIntegerText,
  IsLine,
  Nested,
  NestedList,
  Opaque,
} from './request.decorators.js';
import { yieldIfBusy } from './yield-if-busy.js';
import { isRequestDto, parseRequest, parseRequestInSlices } from './request-parser.js';

class TimeoutsDto {
  @IsOptional()
  @Min(1)
  @IsInt()
  deliveryMs?: number;
}

class CallDto {
  @IsString()
  @MaxLength(10)
  name!: string;

  @Opaque()
  arguments?: unknown;
}

class TurnDto {
  @IsOptional()
  @IsLine(1, 8)
  turnId?: string;

  @NestedList(() => CallDto, 100)
  toolCalls!: CallDto[];

  @IsOptional()
  @Nested(() => TimeoutsDto)
  timeouts?: TimeoutsDto;

  @IsOptional()
  @IsIn(['a', 'b'])
  format = 'a';
}

class ListsDto {
  @IsArray()
  @ArrayMaxSize(3)
  @IsString({ each: true })
  names!: string[];

  @IsString()
  @MaxLength(10)
  note!: string;
}

class PageQueryDto {
  @IsOptional()
  @FromIntegerText()
  @IsInt()
  @Max(500)
  limit?: number;

  @IsOptional()
  @FromBooleanText()
  @IsBoolean()
  success?: boolean;
}

function faultsOf(dto: new () => object, value: unknown): FieldFaults {
  try {
    parseRequest(dto, value);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'VALIDATION_ERROR') return error.extras.fields ?? {};
    throw error;
  }
  return {};
}

describe('parseRequest', () => {
  it('builds an instance of the class and its nested objects, with defaults for absent properties', () => {
    const turn = parseRequest(TurnDto, { toolCalls: [{ name: 'ls' }], timeouts: { deliveryMs: 5 } });
    expect(turn).toBeInstanceOf(TurnDto);
    expect(turn.toolCalls[0]).toBeInstanceOf(CallDto);
    expect(turn.timeouts).toEqual({ deliveryMs: 5 });
    expect(turn.format).toBe('a');
  });

  it('names every fault by its path [REQ-1]', () => {
    const faults = faultsOf(TurnDto, {
      turnId: '',
      toolCalls: [{ name: 'ls' }, { name: 7 }, {}, { name: 'far too long a name' }, 'x'],
      timeouts: { deliveryMs: 0.5 },
      format: 'c',
    });
    expect({ ...faults }).toEqual({
      turnId: 'must have 1 to 8 characters',
      'toolCalls[1].name': 'must be a string',
      'toolCalls[2].name': 'is required',
      'toolCalls[3].name': 'must be shorter than or equal to 10 characters',
      'toolCalls[4]': 'must be an object',
      'timeouts.deliveryMs': 'must be an integer number',
      format: 'must be one of the following values: a, b',
    });
  });

  it('treats null as absent, for optional and for required properties [REQ-5]', () => {
    expect(parseRequest(TurnDto, { turnId: null, toolCalls: [], timeouts: null }).turnId).toBeUndefined();
    expect({ ...faultsOf(TurnDto, { toolCalls: null }) }).toEqual({ toolCalls: 'is required' });
  });

  it('names what an absent body lacks', () => {
    expect({ ...faultsOf(TurnDto, undefined) }).toEqual({ toolCalls: 'is required' });
  });

  it.each([[[]], ['text'], [7], [true]])('refuses %j instead of an object', (value) => {
    expect({ ...faultsOf(TurnDto, value) }).toEqual({ body: 'must be an object' });
  });

  it('refuses other values instead of a list or an object', () => {
    expect({ ...faultsOf(TurnDto, { toolCalls: {}, timeouts: 7 }) }).toEqual({
      toolCalls: 'must be an array',
      timeouts: 'must be an object',
    });
  });

  it.each(['__proto__', 'constructor', 'toString', 'extra'])(
    'refuses the unknown property %s [REQ-5]',
    (key) => {
      const value = JSON.parse(`{"toolCalls":[],"${key}":{"polluted":true}}`) as unknown;
      expect(Object.entries(faultsOf(TurnDto, value))).toEqual([[key, 'is not a known property']]);
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    },
  );

  it('passes an opaque value on unchanged, by reference [REQ-5]', () => {
    const args = JSON.parse('{"__proto__":{"a":1},"constructor":null,"deep":[{"x":null}]}') as object;
    const turn = parseRequest(TurnDto, {
      toolCalls: [
        { name: 'a', arguments: args },
        { name: 'b', arguments: null },
      ],
    });
    expect(turn.toolCalls[0]?.arguments).toBe(args);
    expect(turn.toolCalls[1]?.arguments).toBeNull();
  });

  it('stops at twenty faults and cuts long names [REQ-1]', () => {
    const value = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`${'k'.repeat(100)}${index}`, 1]),
    );
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, 1]));
    expect(Object.keys(faultsOf(TurnDto, { toolCalls: [], ...many }))).toHaveLength(20);
    expect(Object.keys(faultsOf(TurnDto, { toolCalls: [], ...value }))).toEqual([`${'k'.repeat(64)}…`]);
  });

  it('says that there are more faults than it names [REQ-1]', () => {
    const count = (many: number): string => {
      try {
        parseRequest(TurnDto, Object.fromEntries(Array.from({ length: many }, (_, at) => [`k${at}`, 1])));
      } catch (error) {
        return (error as Error).message;
      }
      return '';
    };
    expect(count(19)).toBe('k0 is not a known property (and 19 more)');
    expect(count(50_000)).toBe('k0 is not a known property (and more than 19 more)');
  });

  it('does not inspect the items of an overlong list, or all of an overlong text', () => {
    const inspected = new Set<number>();
    const names = Array.from({ length: 100_000 });
    for (let index = 0; index < names.length; index += 1) {
      Object.defineProperty(names, index, { get: () => inspected.add(index) && 7 });
    }
    const emoji = '\u{1f600}\ufe0f'.repeat(1_000_000);
    expect({ ...faultsOf(ListsDto, { names, note: emoji }) }).toEqual({
      names: 'must contain no more than 3 elements',
      note: 'must be shorter than or equal to 10 characters',
    });
    expect(inspected.size).toBe(4);
  });

  it('refuses a list that is too long as a whole', () => {
    const toolCalls = Array.from({ length: 101 }, () => ({}));
    expect({ ...faultsOf(TurnDto, { toolCalls }) }).toEqual({ toolCalls: 'must have at most 100 items' });
  });

  it('reads numbers and booleans out of a query', () => {
    expect({ ...parseRequest(PageQueryDto, { limit: '20', success: 'false' }) }).toEqual({
      limit: 20,
      success: false,
    });
    expect({ ...faultsOf(PageQueryDto, { limit: '1e2', success: 'yes' }) }).toEqual({
      limit: 'must be an integer number',
      success: 'must be a boolean value',
    });
    expect({ ...faultsOf(PageQueryDto, { limit: '' }) }).toEqual({ limit: 'must be an integer number' });
    expect({ ...faultsOf(PageQueryDto, { limit: ['1', '2'] }) }).toEqual({
      limit: 'must be an integer number',
    });
  });

  it('distinguishes a DTO from a class that declares nothing', () => {
    expect(isRequestDto(TurnDto)).toBe(true);
    expect([
      isRequestDto(String),
      isRequestDto(Object),
      isRequestDto(Buffer),
      isRequestDto(undefined),
    ]).toEqual([false, false, false, false]);
  });

  it('builds a long list in time slices, with the same faults', async () => {
    const toolCalls = Array.from({ length: 100 }, (_, at) => ({ name: at === 70 ? 7 : 'ls' }));
    let slices = 0;
    let isOver = false;
    const concurrent = (async () => {
      for (; !isOver; slices += 1) await yieldIfBusy();
    })();
    await expect(parseRequestInSlices(TurnDto, { toolCalls })).rejects.toMatchObject({
      extras: { fields: { 'toolCalls[70].name': expect.any(String) as string } },
    });
    isOver = true;
    await concurrent;
    expect(slices).toBeGreaterThan(10);
  });
});
