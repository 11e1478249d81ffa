import { fileURLToPath, URL } from 'node:url';
import * as generators from 'ts-json-schema-generator';
import ts from 'typescript';

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** What providers send, and whose other keys are ignored. */
const OPEN = ['OpenAiCall', 'OpenAiResponsesCall', 'AnthropicCall', 'GeminiCall'];

/**
 * JSON schemas of the types of `@Route<…>` on the handlers, and of the exported types that DTOs refer to by name.
 * @param {readonly string[]} operationIds
 * @param {readonly string[]} typeNames
 * @returns {import('./describe.ts').AnswerSchemas}
 */
export function answerSchemas(operationIds, typeNames) {
  const config = {
    ...generators.DEFAULT_CONFIG,
    path: at('src/**/*.controller.ts'),
    tsconfig: at('tsconfig.json'),
    // `npm run types` checks them.
    skipTypeCheck: true,
    expose: 'export',
    topRef: false,
    jsDoc: 'basic',
    additionalProperties: false,
  };
  const program = generators.createProgram(config);
  const generator = new generators.SchemaGenerator(
    program,
    generators.createParser(program, config),
    generators.createFormatter(config),
    config,
  );
  const types = new Map(routeTypes(program));
  const definitions = {};
  const answers = {};
  for (const id of operationIds) {
    if (!types.has(id)) throw new Error(`${id}: describe the handler with @Route<{ 200: … }>({ id: '…' })`);
    const schema = generator.createSchemaFromNodes([types.get(id)]);
    Object.assign(definitions, schema.definitions);
    answers[id] = Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([status, body]) => [status, contentOf(body)]),
    );
  }
  for (const name of typeNames) {
    const { definitions: parts, ...schema } = generator.createSchema(name);
    delete schema.$schema;
    Object.assign(definitions, { [name]: schema }, parts);
  }
  return { answers, schemas: schemasOf(definitions) };
}

/** The operation id and the type of each `@Route<Type>({ id })`. */
function* routeTypes(program) {
  const controllers = program.getSourceFiles().filter(({ fileName }) => fileName.endsWith('.controller.ts'));
  const methods = controllers.flatMap(({ statements }) =>
    statements.filter(ts.isClassDeclaration).flatMap(({ members }) => members.filter(ts.isMethodDeclaration)),
  );
  for (const { expression } of methods.flatMap((method) => ts.getDecorators(method) ?? [])) {
    if (!ts.isCallExpression(expression) || expression.expression.getText() !== 'Route') continue;
    const { properties } = expression.arguments[0];
    const { initializer } = properties.find(({ name }) => name?.getText() === 'id');
    yield [initializer.text, expression.typeArguments[0]];
  }
}

function schemasOf(definitions) {
  // A call has one of its forms, never two.
  const { anyOf: oneOf, ...toolCallInput } = definitions.ToolCallInput;
  const all = { ...definitions, ToolCallInput: { ...toolCallInput, oneOf } };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([name]) => !name.startsWith('Raw<'))
      .map(([name, schema]) => [nameOf(name), moved(OPEN.includes(name) ? opened(schema) : schema)]),
  );
}

/** `InvokeResult<TurnResult>` is no name that OpenAPI allows. */
function nameOf(definition) {
  return definition.replace(/<(\w+)>/, 'Of$1');
}

/** The schema with any other keys, at every depth but in what is referred to. */
function opened(schema) {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => key !== 'additionalProperties')
      .map(([key, value]) => [key, opened(value)]),
  );
}

/** The schema with its references as OpenAPI has them. */
function moved(schema) {
  if (Array.isArray(schema)) return schema.map(moved);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) =>
      key === '$ref'
        ? [key, `#/components/schemas/${nameOf(decodeURIComponent(value.slice('#/definitions/'.length)))}`]
        : [key, moved(value)],
    ),
  );
}

/** By media type; none for an answer without a body. */
function contentOf(schema) {
  const parts = schema.anyOf ?? [schema];
  return Object.fromEntries(
    parts
      .filter(({ type }) => type !== 'null')
      .map((part) => {
        const [, mediaType] = /^#\/definitions\/Raw<"(.*)">$/.exec(decodeURIComponent(part.$ref ?? '')) ?? [];
        return mediaType ? [mediaType, { type: 'string' }] : ['application/json', moved(part)];
      }),
  );
}
