import { type ErrorBody, isWellFormedJson } from '@patchbay/protocol';
import { Ajv, type ValidateFunction } from 'ajv';
import { readFileSync } from 'node:fs';
import { ANSWER_SCHEMAS, ANSWERS } from '../../src/ops/answers.generated.js';
import { ERROR_SCHEMA } from '../../src/ops/api-errors.js';

/** An answer as it came over the wire. */
interface Received {
  method: string;
  /** Whole, with or without a query. */
  url: string;
  status: number;
  contentType: string | null;
  /** JSON parsed, anything else as it is. */
  body: unknown;
}

interface ErrorAnswer {
  content: {
    'application/json': { schema: { allOf: [unknown, { properties: { code: { enum: string[] } } }] } };
  };
}

/** Those parts of docs/openapi.json that say of each route which errors it has. */
const DOCUMENT = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
  paths: {
    [path: string]: { [method: string]: { responses: { [status: string]: { $ref?: string } } } };
  };
  components: { responses: { [name: string]: ErrorAnswer } };
};

const FIRST_ERROR = 400;
const ERROR_ANSWER = { $ref: 'api#/components/schemas/Error' };
/** What a browser asks before it asks; answered for every route alike. */
const PREFLIGHT = 'OPTIONS';
const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema({ $id: 'api', components: { schemas: { ...ANSWER_SCHEMAS, Error: ERROR_SCHEMA } } });
const compiled = new Map<object, ValidateFunction>();
const routes = Object.keys(ANSWERS).map((route) => {
  const [method, path] = route.split(' ') as [string, string];
  const segments = path.replace(/\{path\}/, '.+').replace(/\{\w+\}/g, '[^/]+');
  return { route, method, template: path, path: new RegExp(`^${segments}$`), holes: route.split('{').length };
});
// /files/commit is nobody's id.
routes.sort((a, b) => a.holes - b.holes);

/** Throws where an answer is not what docs/openapi.json says of its route. */
export function expectDocumented({ method, url, status, contentType, body }: Received): void {
  if (method === PREFLIGHT) return;
  // Whatever base path it is below.
  const pathname = new URL(url).pathname.replace(/^.*?(?=\/(api\/v1|health)\/)/, '');
  const found = routes.find((one) => one.method === method && one.path.test(pathname));
  const documented = found && ANSWERS[found.route]![status];
  const fail = (why: string): never => {
    throw new Error(
      `${method} ${pathname} answered ${status} ${why}: ${JSON.stringify(body)?.slice(0, 2000)}`,
    );
  };
  if (!isWellFormedJson(body)) fail('with half of a surrogate pair, which strict readers of JSON refuse');
  if (documented === undefined) {
    if (status < FIRST_ERROR) fail('which no document says');
    check(ERROR_ANSWER, body, fail);
    if (found) checkError(found, status, body as ErrorBody, fail);
    return;
  }
  const [mediaType = ''] = (contentType ?? '').split(';');
  const schema = documented[mediaType];
  if (schema === undefined) {
    if (body !== '' || Object.keys(documented).length > 0) fail(`as "${mediaType}", which no document says`);
  } else if (mediaType === 'application/json') check(schema, body, fail);
}

/** Throws where the document does not have the error's status and code of the route. */
function checkError(
  { method, template }: (typeof routes)[number],
  status: number,
  { code }: ErrorBody,
  fail: (why: string) => never,
): void {
  const reference = DOCUMENT.paths[template]?.[method.toLowerCase()]?.responses[status]?.$ref;
  const answer = DOCUMENT.components.responses[reference?.split('/').at(-1) ?? ''];
  const codes = answer?.content['application/json'].schema.allOf[1].properties.code.enum;
  if (!codes?.includes(code)) fail(`with ${code}, which no document says`);
}

function check(schema: object, body: unknown, fail: (why: string) => never): void {
  const validate = compiled.get(schema) ?? ajv.compile(absolute(schema));
  compiled.set(schema, validate);
  if (!validate(body)) fail(`against its schema (${ajv.errorsText(validate.errors)})`);
}

/** References from a schema that stands alone to those of the document. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"api#/')) as object;
}
