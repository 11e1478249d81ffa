import { Ajv, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonSchema } from '@patchbay/protocol';
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { SchemaCheck, type SchemaCompilers } from '../schema-check.js';
import { at, boundsFault, DATA, type Draft, draftOf } from './schema-bounds.js';

/** Compiled schemas that a worker keeps. */
const MAX_COMPILED = 64;
/** Schemas that one compiler compiles: it keeps a trace of each. */
const MAX_PER_COMPILER = 256;
/** Instructions of a compiled pattern: with the text length they bound the time of a match. */
const MAX_PROGRAM = 5_000;

/** Foreign keywords and formats are annotations. References are not inlined, since the code would grow exponentially. */
const OPTIONS: Options = {
  ...{ strict: false, validateFormats: false, inlineRefs: false, logger: false, validateSchema: false },
  code: { regExp: linearPattern },
};

/** Compiles a pattern for linear time. Ajv tells patterns apart by `toString()`. */
function linearPattern(pattern: string) {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  if (compiled.programSize() > MAX_PROGRAM) throw new Error(`The pattern ${pattern} is too complex.`);
  return { test: (text: string) => compiled.test(text), toString: () => `/${pattern}/` };
}
linearPattern.code = 'linearPattern';

/** Compiles schemas of clients, on a worker only: they may take any time and memory. */
export class ForeignSchemas {
  private readonly compiled = new LRUCache<string, SchemaCheck>({ max: MAX_COMPILED });
  private readonly compilers = new Map<Draft, { pair: SchemaCompilers; used: number }>();
  private readonly metaChecks = new Map<Draft, Ajv>();

  /** Why a schema is refused, with the place in it; null if it is not. */
  faultOf(schema: JsonSchema): string | null {
    const bounds = boundsFault(schema) ?? this.metaFault(schema) ?? patternFault(schema, '');
    if (bounds !== null) return bounds;
    try {
      this.compile(schema).compile();
      return null;
    } catch (error) {
      return `does not compile: ${(error as Error).message}`;
    }
  }

  /** The check of a schema without fault. `key` identifies the schema. */
  checkOf(key: string, schema: JsonSchema): SchemaCheck {
    const known = this.compiled.get(key);
    if (known) return known;
    const check = this.compile(schema);
    this.compiled.set(key, check);
    return check;
  }

  private compile({ $schema, $id: _id, ...schema }: JsonSchema): SchemaCheck {
    return new SchemaCheck(schema, this.compilerOf(draftOf({ $schema })!));
  }

  private compilerOf(draft: Draft): SchemaCompilers {
    let known = this.compilers.get(draft);
    if (known === undefined || known.used >= MAX_PER_COMPILER) {
      const Compiler = draft === 'draft-07' ? Ajv : Ajv2020;
      const pair = { first: new Compiler(OPTIONS), every: new Compiler({ ...OPTIONS, allErrors: true }) };
      known = { pair, used: 0 };
      this.compilers.set(draft, known);
    }
    known.used += 1;
    return known.pair;
  }

  /** The first place where a schema breaks the meta-schema of its draft. */
  private metaFault(schema: JsonSchema): string | null {
    const draft = draftOf(schema)!;
    const ajv =
      this.metaChecks.get(draft) ??
      (draft === 'draft-07' ? new Ajv({ logger: false }) : new Ajv2020({ logger: false }));
    this.metaChecks.set(draft, ajv);
    if (ajv.validateSchema(schema) === true) return null;
    const [first] = ajv.errors ?? [];
    return `${at(first?.instancePath ?? '')} ${first?.message ?? 'is not valid'}`;
  }
}

/** The first pattern that cannot run in linear time, with its place. */
function patternFault(value: unknown, place: string): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, below] of Object.entries(value)) {
    if (DATA.has(key)) continue;
    const here = `${place}/${key}`;
    const patterns =
      key === 'pattern' && typeof below === 'string'
        ? [below]
        : key === 'patternProperties'
          ? Object.keys((below ?? {}) as object)
          : [];
    for (const pattern of patterns) {
      try {
        linearPattern(pattern);
      } catch (error) {
        return `${at(here)} is no pattern in RE2 syntax, which runs in linear time: ${(error as Error).message}`;
      }
    }
    const fault = patternFault(below, here);
    if (fault !== null) return fault;
  }
  return null;
}
