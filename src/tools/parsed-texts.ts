import {
  type Json,
  type JsonCount,
  jsonFault,
  JsonOutOfBounds,
  type JsonSchema,
  parseExactJson,
} from '@patchbay/protocol';
import type { SchemaFault } from './tool-schemas.js';

/** Arguments after JSON texts in them were parsed. */
export interface ParsedTexts {
  /** The same object if nothing was parsed. */
  args: Json;
  /** JSON Pointers of the parsed texts. */
  parsed: string[];
  /** Why other texts in place of a list or object could not be parsed. */
  faults: SchemaFault[];
}

/** The stored arguments of a call, and their faults. */
export interface ReadArguments {
  args: Json;
  faults: SchemaFault[];
  /** JSON Pointers of parsed JSON texts; "" is the arguments as a whole. */
  parsed: string[];
}

/** Never parsed: lines of a file may look like JSON. */
const LINES = 'newLines';

/** Texts that are checked per call. */
const MAX_TEXTS = 10_000;

/**
 * Parses texts where the schema expects a list or object, since models often send `files` as a JSON string. The caller
 * checks the result against the schema.
 * @param count counts the JSON texts of one request
 */
export function parseTexts(schema: JsonSchema, args: Json, count: JsonCount): ParsedTexts {
  const reader = new TextReader(count);
  return { args: reader.read([schema], args, ''), parsed: reader.parsed, faults: reader.faults };
}

/** Checks arguments against their schema. If they break it, JSON texts in them are parsed first [TURN-30]. */
export function readArguments(
  faultsOf: (args: Json) => SchemaFault[],
  schema: JsonSchema,
  args: Json,
  count: JsonCount,
): ReadArguments {
  const faults = faultsOf(args);
  if (faults.length === 0) return { args, faults, parsed: [] };
  const texts = parseTexts(schema, args, count);
  const { parsed } = texts;
  const left = parsed.length > 0 ? faultsOf(texts.args) : faults;
  return { args: texts.args, faults: mergeFaults(left, texts.faults), parsed };
}

/** Replaces the schema's fault of a text by the reason why it is not JSON. */
function mergeFaults(faults: readonly SchemaFault[], ofTexts: readonly SchemaFault[]): SchemaFault[] {
  const byPath = new Map(ofTexts.map(({ path, message }) => [path, message]));
  return faults.map((fault) => {
    const ofText = byPath.get(fault.path);
    return ofText === undefined ? fault : { ...fault, message: `${fault.message}; the text ${ofText}` };
  });
}

/** The value of a JSON text; the text itself and the fault if it is invalid. */
export function readJsonText(text: string, count: JsonCount): { value: unknown; fault: string | null } {
  try {
    return { value: parseExactJson(text, count), fault: null };
  } catch (error) {
    return { value: text, fault: faultOf(text, error) };
  }
}

class TextReader {
  readonly parsed: string[] = [];
  readonly faults: SchemaFault[] = [];

  constructor(private readonly count: JsonCount) {}

  read(schemas: readonly JsonSchema[], value: Json, path: string): Json {
    if (typeof value === 'string') return this.readText(schemas, value, path);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return this.readList(schemas, value, path);
    let copy: { [name: string]: Json } | null = null;
    for (const [name, item] of Object.entries(value)) {
      const below = name === LINES ? [] : propertySchemas(schemas, name);
      const read = below.length === 0 ? item : this.read(below, item, `${path}/${name}`);
      if (read !== item) (copy ??= { ...value })[name] = read;
    }
    return copy ?? value;
  }

  private readList(schemas: readonly JsonSchema[], value: Json[], path: string): Json {
    const items = alternatives(schemas).flatMap(({ items }) => (items ? [items as JsonSchema] : []));
    if (!alternatives(items).some(holdsValues)) return value;
    let copy: Json[] | null = null;
    for (const [at, item] of value.entries()) {
      const read = this.read(items, item, `${path}/${at}`);
      if (read !== item) (copy ??= [...value])[at] = read;
    }
    return copy ?? value;
  }

  private readText(schemas: readonly JsonSchema[], text: string, path: string): Json {
    const kinds = kindsOf(schemas);
    const isAllowed = kinds.has('string') || !(kinds.has('array') || kinds.has('object'));
    if (isAllowed || this.parsed.length + this.faults.length >= MAX_TEXTS) return text;
    const { value, fault } = readJsonText(text, this.count);
    if (fault !== null) this.faults.push({ path, code: 'json', message: fault });
    const kind = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
    if ((kind !== 'array' && kind !== 'object') || !kinds.has(kind)) return text;
    this.parsed.push(path);
    return this.read(schemas, value as Json, path);
  }
}

function faultOf(text: string, error: unknown): string {
  if (error instanceof JsonOutOfBounds) return error.message;
  return `is not valid JSON: ${jsonFault(text)}`;
}

/** The schemas that may apply to a value, with choices expanded. */
function alternatives(schemas: readonly JsonSchema[]): JsonSchema[] {
  return schemas.flatMap((schema) => {
    const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
    return choices === undefined ? [schema] : alternatives(choices);
  });
}

function propertySchemas(schemas: readonly JsonSchema[], name: string): JsonSchema[] {
  return alternatives(schemas).flatMap(({ properties }) => {
    const known = (properties ?? {}) as { [name: string]: JsonSchema };
    return Object.hasOwn(known, name) ? [known[name]!] : [];
  });
}

function holdsValues({ type }: JsonSchema): boolean {
  return type === 'array' || type === 'object' || Array.isArray(type);
}

/** The allowed types; includes `string` if anything is allowed. */
function kindsOf(schemas: readonly JsonSchema[]): Set<string> {
  return new Set(alternatives(schemas).flatMap(({ type }) => (type ?? 'string') as string | string[]));
}
