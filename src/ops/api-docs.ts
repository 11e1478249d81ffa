import { STATUS_CODES } from 'node:http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ERRORS } from '@patchbay/protocol';
import { ANSWER_SCHEMAS, ANSWERS } from './answers.generated.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

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

/** The API as OpenAPI; `docs/openapi.json` is generated from it. */
export function describeApi(app: NestFastifyApplication): OpenAPIObject {
  const options = new DocumentBuilder()
    .setTitle('Patchbay')
    .setDescription("Routes an LLM's tool calls to where they can run, and keeps the record.")
    .setVersion('1')
    .setOpenAPIVersion('3.1.0')
    .addBearerAuth()
    .build();
  const document = SwaggerModule.createDocument(app, options);
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, ...ANSWER_SCHEMAS, Error: ERROR_SCHEMA },
  };
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) if (item[method]) complete(item[method], method, path);
  }
  return document;
}

/** The same for a browser, at /api/docs. Built when first asked for: nothing of it is needed to serve the API. */
export function serveApiDocs(app: NestFastifyApplication): void {
  SwaggerModule.setup('api/docs', app, () => describeApi(app));
}

/** Adds what no decorator says: path parameters that a guard reads, what is answered, and the one form of every error. */
function complete(operation: Operation, method: string, path: string): void {
  const parameters = operation.parameters ?? [];
  const named = new Set(parameters.map((parameter) => ('name' in parameter ? parameter.name : '')));
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
    if (!named.has(name)) parameters.push({ name, in: 'path', required: true, schema: { type: 'string' } });
  }
  operation.parameters = parameters;
  operation.responses = {
    ...answersOf(`${method.toUpperCase()} ${path}`),
    default: {
      description: 'An error, by its code.',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    },
  };
}

function answersOf(route: string): Operation['responses'] {
  const answers = Object.entries(ANSWERS[route] ?? {}).map(([status, content]) => {
    const media = Object.entries(content).map(([type, schema]) => [type, { schema }] as const);
    const hasContent = media.length > 0 && { content: Object.fromEntries(media) };
    return [status, { description: STATUS_CODES[status] ?? '', ...hasContent }] as const;
  });
  return Object.fromEntries(answers);
}
