import { type ErrorCode, ERRORS } from '@patchbay/protocol';
import { ERROR_EXAMPLES } from './api-examples.js';

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

/** The error answers of a document, each once, by the codes that it may have. */
export class ErrorAnswers {
  readonly byName: { [name: string]: ReturnType<typeof answerOf> } = {};

  /** A reference to the answer with one of these codes. */
  withOneOf(codes: readonly ErrorCode[]): { $ref: string } {
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
