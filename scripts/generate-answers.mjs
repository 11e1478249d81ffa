/**
 * Writes src/ops/answers.generated.ts: the JSON schemas of what src/ops/answers.ts says that each route answers. Part of
 * `npm run generate`.
 */
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';
import { createGenerator } from 'ts-json-schema-generator';
import { writeGenerated } from './write-generated.mjs';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const TARGET = at('src/ops/answers.generated.ts');

const { definitions: described } = createGenerator({
  path: at('src/ops/answers.ts'),
  tsconfig: at('tsconfig.json'),
  type: 'Described',
  expose: 'export',
  topRef: false,
  jsDoc: 'basic',
  additionalProperties: false,
}).createSchema('Described');
const { Answers: answersByRoute, ...definitions } = described;
// Only what it names is wanted, not the list itself.
delete definitions.Requested;

/** What providers send, and whose other keys are ignored. */
const OPEN = ['OpenAiCall', 'OpenAiResponsesCall', 'AnthropicCall', 'GeminiCall'];

/** `InvokeResult<TurnEnvelope>` is no name that OpenAPI allows. */
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

// A call has one of its forms, never two.
const { anyOf: oneOf, ...toolCallInput } = definitions.ToolCallInput;
definitions.ToolCallInput = { ...toolCallInput, oneOf };

const routes = Object.fromEntries(
  Object.entries(answersByRoute.properties).map(([route, answers]) => [
    route,
    Object.fromEntries(
      Object.entries(answers.properties).map(([status, schema]) => [status, contentOf(schema)]),
    ),
  ]),
);
const schemas = Object.fromEntries(
  Object.entries(definitions)
    .filter(([name]) => !name.startsWith('Raw<'))
    .map(([name, schema]) => [nameOf(name), moved(OPEN.includes(name) ? opened(schema) : schema)]),
);

const text = `// Generated from answers.ts by \`npm run generate\`; do not edit.

/** Schemas of the types that routes answer with, by their names. */
export const ANSWER_SCHEMAS: Record<string, object> = ${JSON.stringify(schemas)};

/** Of each route (method and path) by status and media type: the schema of the answer. */
export const ANSWERS: Record<string, Record<string, Record<string, object>>> = ${JSON.stringify(routes)};
`;
if (await writeGenerated(TARGET, text)) process.stdout.write('Wrote src/ops/answers.generated.ts.\n');
