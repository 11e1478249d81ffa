import { STATUS_CODES } from 'node:http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ACCESS_EXTENSION, type AccessRule } from '../common/access.js';
import { Config } from '../config/config.js';
import { ANSWER_SCHEMAS, ANSWERS } from './answers.generated.js';
import { ERROR_SCHEMA, ErrorAnswers } from './api-errors.js';
import { ANSWER_EXAMPLES, REQUEST_EXAMPLES } from './api-examples.js';
import { API_OPERATIONS, linksOf } from './api-operations.js';
import { asRead, orNull, PATH_PARAMETERS, type Schema, whole } from './api-requests.js';
import { API_TAGS, tagOf } from './api-tags.js';
import { errorsOf } from './route-errors.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

type Parameters = NonNullable<Operation['parameters']>;
type Requests = { [name: string]: Schema };

/** What operations of a document have in common. */
interface Shared {
  /** The request schemas as they are read. */
  read: Requests;
  errors: ErrorAnswers;
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

interface Body {
  required?: boolean;
  content: { [mediaType: string]: { schema: Schema; examples?: object } };
}

/** How the classes end that say what is ours in a request. */
const DTO = 'Dto';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** The API as OpenAPI; `docs/openapi.json` is generated from it. */
export function describeApi(app: NestFastifyApplication): OpenAPIObject {
  const options = new DocumentBuilder()
    .setTitle('Patchbay')
    .setDescription("Routes an LLM's tool calls to where they can run, and keeps the record.")
    .setVersion('1')
    .setOpenAPIVersion('3.1.0')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer(app.get(Config).basePath || '/')
    .addBearerAuth()
    .addCookieAuth('access_token')
    .build();
  const document = SwaggerModule.createDocument(app, options);
  const requests = Object.entries(document.components?.schemas ?? {})
    .filter(([name]) => name.endsWith(DTO))
    .map(([name, schema]) => [name, asRead(schema as Schema)] as const);
  const read = Object.fromEntries(requests);
  const errors = new ErrorAnswers();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      if (item[method]) complete(item[method], `${method.toUpperCase()} ${path}`, { read, errors });
    }
  }
  const schemas = { ...read, ...ANSWER_SCHEMAS, Error: ERROR_SCHEMA };
  document.components = { ...document.components, schemas, responses: errors.byName };
  document.tags = API_TAGS.map(({ name, description }) => ({ name, description }));
  return document;
}

/** The same for a browser, at /api/docs. Built when first asked for: nothing of it is needed to serve the API. */
export function serveApiDocs(app: NestFastifyApplication): void {
  SwaggerModule.setup('api/docs', app, () => describeApi(app));
}

/** Adds what no decorator says: names, path parameters that a guard reads, what is answered, and where that leads to. */
function complete(operation: Operation, route: string, { read, errors }: Shared): void {
  const [, path] = route.split(' ') as [string, string];
  operation.operationId = API_OPERATIONS[route]!.id;
  operation.tags = [tagOf(path)];
  operation.parameters = parametersOf(operation, path);
  const access = (operation as { [ACCESS_EXTENSION]?: AccessRule })[ACCESS_EXTENSION]!;
  operation.security = access === 'public' ? [] : [{ bearer: [] }, { cookie: [] }];
  // A tool shows the summary in a list, so it is the first clause of the description.
  operation.description = (operation.summary ?? '').replaceAll('\n', ' ');
  operation.summary = operation.description.split(/[;:,.]\s/)[0]!.replace(/\.$/, '');
  if (operation.requestBody) completeBody(operation.requestBody as Body, read);
  const codes = errorsOf({ route, access, hasBody: operation.requestBody !== undefined });
  operation.responses = {
    ...Object.fromEntries([...codes].map(([status, some]) => [status, errors.withOneOf(some)])),
    ...answersOf(route),
  };
}

/** Those of the query as they were declared, and those of the path in its order. */
function parametersOf(operation: Operation, path: string): Parameters {
  const declared = (operation.parameters ?? []) as Parameter[];
  const queries = declared.filter((parameter) => parameter.in !== 'path');
  for (const parameter of queries) {
    parameter.schema = whole(parameter.schema);
    if ('default' in parameter.schema) parameter.required = false;
  }
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const paths = names.map((name) => ({ name, in: 'path', required: true, ...PATH_PARAMETERS[name]! }));
  return [...paths, ...queries] as Parameters;
}

/** Shows examples. A body that needs nothing may be left out, or null; bytes that are left out are none. */
function completeBody(body: Body, requests: Requests): void {
  const json = body.content['application/json'];
  const name = (json?.schema.$ref as string | undefined)?.split('/').at(-1);
  const examples = REQUEST_EXAMPLES[name!];
  if (json && examples) json.examples = examples;
  if (json && requests[name!]?.required) return;
  body.required = false;
  if (json) json.schema = orNull(json.schema);
}

function answersOf(route: string): Operation['responses'] {
  const answers = Object.entries(ANSWERS[route] ?? {}).map(([status, content]) => {
    const examples = ANSWER_EXAMPLES[route]?.[status];
    const media = Object.entries(content).map(
      ([type, schema]) => [type, { schema, ...(examples && { examples }) }] as const,
    );
    const hasContent = media.length > 0 && { content: Object.fromEntries(media) };
    const links = linksOf(route, Number(status));
    const leadsOn = Object.keys(links).length > 0 && { links };
    return [status, { description: STATUS_CODES[status] ?? '', ...hasContent, ...leadsOn }] as const;
  });
  return Object.fromEntries(answers);
}
