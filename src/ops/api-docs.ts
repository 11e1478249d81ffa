import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ERRORS } from '@patchbay/protocol';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

const ERROR_SCHEMA = {
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
    .addBearerAuth()
    .build();
  const document = SwaggerModule.createDocument(app, options);
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, Error: ERROR_SCHEMA },
  };
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) if (item[method]) complete(item[method], path);
  }
  return document;
}

/** The same for a browser, at /api/docs. Built when first asked for: nothing of it is needed to serve the API. */
export function serveApiDocs(app: NestFastifyApplication): void {
  SwaggerModule.setup('api/docs', app, () => describeApi(app));
}

/** Adds what no decorator says: path parameters that a guard reads, and the one form of every error. */
function complete(operation: Operation, path: string): void {
  const parameters = operation.parameters ?? [];
  const named = new Set(parameters.map((parameter) => ('name' in parameter ? parameter.name : '')));
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
    if (!named.has(name)) parameters.push({ name, in: 'path', required: true, schema: { type: 'string' } });
  }
  operation.parameters = parameters;
  operation.responses.default = {
    description: 'An error, by its code.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}
