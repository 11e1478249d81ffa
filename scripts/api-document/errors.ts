import { type ErrorCode, ERRORS } from '@patchbay/protocol';
import { ACCESS_EXTENSION } from '../../src/common/access.js';
import { ROUTE_EXTENSION } from '../../src/common/route.js';
import type { Operation } from './describe.js';
import { ERROR_EXAMPLES } from './examples.js';

/** Every error of every route. */
export const ERROR_SCHEMA = {
  type: 'object',
  required: ['error', 'code'],
  additionalProperties: false,
  properties: {
    error: { type: 'string' },
    code: { type: 'string', enum: Object.keys(ERRORS) },
    fields: { type: 'object', additionalProperties: { type: 'string' } },
  },
};

const RETRY_AFTER = {
  schema: { type: 'integer' as const },
  description: 'Seconds after which to try again.',
};

/** The codes that a route answers an error with: those of its decorators, and those that follow from what it takes. */
export function errorsOf(path: string, operation: Operation): Set<ErrorCode> {
  const namesSomething = path.replace('{workspaceId}', '').includes('{');
  return new Set<ErrorCode>([
    'VALIDATION_ERROR',
    ...(operation[ACCESS_EXTENSION] === 'public' ? [] : (['INVALID_TOKEN', 'FORBIDDEN'] as const)),
    ...(namesSomething ? (['NOT_FOUND'] as const) : []),
    // Headers and the URL have a bound as bodies have one.
    'TOO_LARGE',
    ...(operation.requestBody ? (['UNSUPPORTED_MEDIA_TYPE'] as const) : []),
    ...(operation[ROUTE_EXTENSION]?.errors ?? []),
    ...(path.startsWith('/health/') ? [] : (['RATE_LIMITED', 'UNAVAILABLE'] as const)),
    'INTERNAL_ERROR',
  ]);
}

/** The error answers of a document, each once, by the codes that it may have. */
export class ErrorAnswers {
  readonly byName: { [name: string]: ReturnType<typeof answerOf> } = {};

  /** References to the answers with these codes, by status. */
  of(codes: ReadonlySet<ErrorCode>): { [status: string]: { $ref: string } } {
    const sorted = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
    const statuses = [...new Set(sorted.map((code) => ERRORS[code].status))];
    return Object.fromEntries(
      statuses.map((status) => [
        status,
        this.withOneOf(sorted.filter((code) => ERRORS[code].status === status)),
      ]),
    );
  }

  private withOneOf(codes: readonly ErrorCode[]): { $ref: string } {
    const name = codes.map(inPascalCase).join('Or');
    this.byName[name] ??= answerOf(codes);
    return { $ref: `#/components/responses/${name}` };
  }
}

function answerOf(codes: readonly ErrorCode[]) {
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/Error' },
      { type: 'object' as const, properties: { code: { type: 'string' as const, enum: [...codes] } } },
    ],
  };
  const shown = codes.filter((code) => code in ERROR_EXAMPLES);
  const examples = shown.length > 0 && {
    examples: Object.fromEntries(shown.map((code) => [code, ERROR_EXAMPLES[code]!])),
  };
  return {
    description: codes.map((code) => `${code}: ${ERRORS[code].meaning}`).join(' '),
    content: { 'application/json': { schema, ...examples } },
    ...(codes.includes('RATE_LIMITED') && { headers: { 'Retry-After': RETRY_AFTER } }),
  };
}

function inPascalCase(code: string): string {
  return code
    .split('_')
    .map((word) => word.slice(0, 1) + word.slice(1).toLowerCase())
    .join('');
}
