import { type ErrorBody, isWellFormedJson } from '@patchbay/protocol';
import { Ajv, type ValidateFunction } from 'ajv';
import { readFileSync } from 'node:fs';

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

/** An answer of a route: an error by its reference, any other with its schema by media type; without one it has no body. */
interface Documented {
  $ref?: string;
  content?: { [mediaType: string]: { schema: object } };
}

interface Operation {
  operationId: string;
  responses: { [status: string]: Documented };
}

/** docs/openapi.json, as far as it describes answers. */
export const DOCUMENT = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
  paths: { [path: string]: { [method: string]: Operation } };
  components: { schemas: { [name: string]: object }; responses: { [name: string]: ErrorAnswer } };
};

const FIRST_ERROR = 400;
const ERROR_ANSWER = { $ref: 'api#/components/schemas/Error' };
/** What a browser asks before it asks; answered for every route alike. */
const PREFLIGHT = 'OPTIONS';
const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema({ $id: 'api', components: { schemas: DOCUMENT.components.schemas } });
const compiled = new Map<object, ValidateFunction>();
const routes = Object.entries(DOCUMENT.paths).flatMap(([path, item]) => {
  const segments = path.replace(/\{path\}/, '.+').replace(/\{\w+\}/g, '[^/]+');
  const pattern = new RegExp(`^${segments}$`);
  return Object.entries(item).map(([method, { responses }]) => {
    return { method: method.toUpperCase(), pattern, responses, parameters: path.split('{').length };
  });
});
// /files/commit is nobody's id.
routes.sort((a, b) => a.parameters - b.parameters);

/** Throws where an answer is not what docs/openapi.json says of its route. */
export function expectDocumented({ method, url, status, contentType, body }: Received): void {
  if (method === PREFLIGHT) return;
  // Whatever base path it is below.
  const pathname = new URL(url).pathname.replace(/^.*?(?=\/(api\/v1|health)\/)/, '');
  const found = routes.find((one) => one.method === method && one.pattern.test(pathname));
  const documented = found?.responses[status];
  const fail = (why: string): never => {
    throw new Error(
      `${method} ${pathname} answered ${status} ${why}: ${JSON.stringify(body)?.slice(0, 2000)}`,
    );
  };
  if (!isWellFormedJson(body)) fail('with half of a surrogate pair, which strict readers of JSON refuse');
  if (documented === undefined || documented.$ref !== undefined) {
    if (status < FIRST_ERROR) fail('which no document says');
    check(ERROR_ANSWER, body, fail);
    const { code } = body as ErrorBody;
    if (found && !errorCodes(documented).includes(code)) fail(`with ${code}, which no document says`);
    return;
  }
  const { content = {} } = documented;
  const [mediaType = ''] = (contentType ?? '').split(';');
  const media = content[mediaType];
  if (media === undefined) {
    if (body !== '' || Object.keys(content).length > 0) fail(`as "${mediaType}", which no document says`);
  } else if (mediaType === 'application/json') check(media.schema, body, fail);
}

/** The codes of an answer of the document; none where it is not an error. */
export function errorCodes(documented: Documented | undefined): string[] {
  const answer = DOCUMENT.components.responses[documented?.$ref?.split('/').at(-1) ?? ''];
  return answer?.content['application/json'].schema.allOf[1].properties.code.enum ?? [];
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
