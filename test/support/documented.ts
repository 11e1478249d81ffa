import { Ajv, type ValidateFunction } from 'ajv';
import { ANSWER_SCHEMAS, ANSWERS } from '../../src/ops/answers.generated.js';
import { ERROR_SCHEMA } from '../../src/ops/api-docs.js';

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

const FIRST_ERROR = 400;
/** What a browser asks before it asks; answered for every route alike. */
const PREFLIGHT = 'OPTIONS';
const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema({ $id: 'api', components: { schemas: { ...ANSWER_SCHEMAS, Error: ERROR_SCHEMA } } });
const compiled = new Map<object, ValidateFunction>();
const routes = Object.keys(ANSWERS).map((route) => {
  const [method, path] = route.split(' ') as [string, string];
  const segments = path.replace(/\{path\}/, '.+').replace(/\{\w+\}/g, '[^/]+');
  return { route, method, path: new RegExp(`^${segments}$`), holes: route.split('{').length };
});
// /files/commit is nobody's id.
routes.sort((a, b) => a.holes - b.holes);

/** Throws where an answer is not what docs/openapi.json says of its route. */
export function expectDocumented({ method, url, status, contentType, body }: Received): void {
  if (method === PREFLIGHT) return;
  const { pathname } = new URL(url);
  const found = routes.find((one) => one.method === method && one.path.test(pathname));
  const documented = found && ANSWERS[found.route]![status];
  const fail = (why: string): never => {
    throw new Error(
      `${method} ${pathname} answered ${status} ${why}: ${JSON.stringify(body)?.slice(0, 2000)}`,
    );
  };
  if (documented === undefined) {
    if (status < FIRST_ERROR) fail('which no document says');
    return check({ $ref: 'api#/components/schemas/Error' }, body, fail);
  }
  const [mediaType = ''] = (contentType ?? '').split(';');
  const schema = documented[mediaType];
  if (schema === undefined) {
    if (body !== '' || Object.keys(documented).length > 0) fail(`as "${mediaType}", which no document says`);
  } else if (mediaType === 'application/json') check(schema, body, fail);
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
