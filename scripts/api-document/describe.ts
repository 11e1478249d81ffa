import { STATUS_CODES } from 'node:http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ACCESS_EXTENSION, type AccessRule } from '../../src/common/access.js';
import { ROUTE_EXTENSION, type RouteDescription } from '../../src/common/route.js';
import { ERROR_SCHEMA, ErrorAnswers, errorsOf } from './errors.js';
import { ANSWER_EXAMPLES, REQUEST_EXAMPLES } from './examples.js';
import { addLinks } from './links.js';
import { asRead, orNull, parametersOf, type Schema } from './requests.js';

/** An operation as the decorators of its handler describe it. */
export type Operation = NonNullable<OpenAPIObject['paths'][string]['get']> & {
  [ACCESS_EXTENSION]: AccessRule;
  [ROUTE_EXTENSION]?: Omit<RouteDescription, 'id'>;
};

/** Answers by operation id, status and media type, and the schemas that they and requests refer to. */
export interface AnswerSchemas {
  answers: { [operationId: string]: { [status: string]: { [mediaType: string]: Schema } } };
  schemas: { [name: string]: Schema };
}

interface Body {
  required?: boolean;
  content: { [mediaType: string]: { schema: Schema; examples?: object } };
}

const TAGS = {
  accounts: 'Accounts, logins and tokens.',
  turns: 'Turns: the tool calls of one answer of a model, and their results.',
  sessions: 'Conversations of an agent, and the context for its system prompt.',
  tools: 'The catalog of tools, and single calls.',
  patches: 'Patch batches and their outcome.',
  files: 'Cloud files: contents, versions, bulk transfer.',
  folders: 'Folders that clients have connected.',
  audit: 'The record of every step.',
  operations: 'Health of the server.',
  workspaces: 'Workspaces and their members.',
};

/** The API as its decorators describe it. */
export function routesOf(app: NestFastifyApplication): OpenAPIObject {
  const options = new DocumentBuilder()
    .setTitle('Patchbay')
    .setDescription("Routes an LLM's tool calls to where they can run, and records every step.")
    .setVersion('1')
    .setOpenAPIVersion('3.1.0')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer('/')
    .addBearerAuth()
    .addCookieAuth('access_token');
  for (const [name, description] of Object.entries(TAGS)) options.addTag(name, description);
  return SwaggerModule.createDocument(app, options.build());
}

/** docs/openapi.json. */
export function describeApi(
  app: NestFastifyApplication,
  answerSchemas: (operationIds: readonly string[], typeNames: readonly string[]) => AnswerSchemas,
): OpenAPIObject {
  const document = routesOf(app);
  const requests = Object.entries(document.components?.schemas ?? {})
    .filter(([name]) => name.endsWith('Dto'))
    .map(([name, schema]) => [name, asRead(schema as Schema)] as const);
  const read = Object.fromEntries(requests);
  const errors = new ErrorAnswers();
  const operations = operationsOf(document);
  const ids = operations.map(({ operation }) => operation.operationId!);
  const { answers, schemas } = answerSchemas(ids, typesIn(read));
  for (const { path, operation } of operations) {
    complete(operation, path, read);
    operation.responses = {
      ...errors.of(errorsOf(path, operation)),
      ...answersOf(operation.operationId!, answers),
    };
  }
  addLinks(operations);
  for (const { operation } of operations) delete operation[ROUTE_EXTENSION];
  document.components = {
    ...document.components,
    schemas: { ...read, ...schemas, Error: ERROR_SCHEMA },
    responses: errors.byName,
  };
  return document;
}

/** The names of the schemas that these refer to and that are not among them. */
function typesIn(read: { [name: string]: Schema }): string[] {
  const names = [...JSON.stringify(read).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name!);
  return [...new Set(names)].filter((name) => !(name in read));
}

/** Every operation of a document. */
export function operationsOf({
  paths,
}: OpenAPIObject): { path: string; method: string; operation: Operation }[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as { [method: string]: Operation }).map(([method, operation]) => ({
      path,
      method,
      operation,
    })),
  );
}

/** Adds what no decorator says: who may call, the path parameters that a guard reads, a summary. */
function complete(operation: Operation, path: string, read: { [name: string]: Schema }): void {
  operation.parameters = parametersOf(operation, path);
  operation.security = operation[ACCESS_EXTENSION] === 'public' ? [] : [{ bearer: [] }, { cookie: [] }];
  // A tool shows the summary in a list, so it is the first clause of the description.
  operation.description = (operation.summary ?? '').replaceAll('\n', ' ');
  operation.summary = operation.description.split(/[;:,.]\s/)[0]!.replace(/\.$/, '');
  if (operation.requestBody) completeBody(operation.requestBody as Body, read);
}

/** Adds examples. A body without required properties may be left out, or null; so may bytes. */
function completeBody(body: Body, requests: { [name: string]: Schema }): void {
  const json = body.content['application/json'];
  const name = (json?.schema.$ref as string | undefined)?.split('/').at(-1);
  const examples = REQUEST_EXAMPLES[name!];
  if (json && examples) json.examples = examples;
  if (json && requests[name!]?.required) return;
  body.required = false;
  if (json) json.schema = orNull(json.schema);
}

function answersOf(id: string, answers: AnswerSchemas['answers']): Operation['responses'] {
  const described = Object.entries(answers[id] ?? {}).map(([status, content]) => {
    const examples = ANSWER_EXAMPLES[id]?.[status];
    const media = Object.entries(content).map(
      ([type, schema]) => [type, { schema, ...(examples && { examples }) }] as const,
    );
    const hasContent = media.length > 0 && { content: Object.fromEntries(media) };
    return [status, { description: STATUS_CODES[status] ?? '', ...hasContent }] as const;
  });
  return Object.fromEntries(described);
}
