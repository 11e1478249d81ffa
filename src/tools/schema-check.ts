import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { Json, JsonSchema } from '@patchbay/protocol';
import { tooManyIn } from './item-bounds.js';
import { MAX_FAULTS, type SchemaFault, toFault } from './tool-schemas.js';
import { holdsMoreThan, sampleOf } from './value-sample.js';

/** Values that are fully checked: each fault costs a microsecond and some hundred bytes. */
const MAX_LOOKED_AT = 20_000;
/** Rules about a whole list or object, which a sample cannot break or satisfy. */
const OF_THE_WHOLE = new Set(['required', 'contains', 'minItems', 'minProperties', 'dependentRequired']);

/** Compiles schemas: one check stops at the first fault, the other finds all. */
export interface SchemaCompilers {
  first: Ajv;
  every: Ajv;
}

const OPTIONS = { strict: true, allowUnionTypes: true };
const OURS: SchemaCompilers = { first: new Ajv(OPTIONS), every: new Ajv({ ...OPTIONS, allErrors: true }) };

/**
 * A JSON Schema, compiled on first use: returns the faults of a value and never changes it. A first pass only tells
 * whether there is a fault, without allocating. The faults of a large value are named for a sample.
 */
export class SchemaCheck {
  private stopsAtFirst: ValidateFunction | null = null;
  private namesAll: ValidateFunction | null = null;

  constructor(
    private readonly schema: JsonSchema,
    private readonly compilers: SchemaCompilers = OURS,
  ) {}

  /** Compiles the schema now; throws if it is not valid. */
  compile(): void {
    this.stopsAtFirst ??= compile(this.compilers.first, this.schema);
  }

  /** At most twenty faults; the last one says if there are or may be more. */
  faultsOf(value: Json): SchemaFault[] {
    const overfull = tooManyIn(this.schema, value);
    if (overfull) return [overfull];
    const isSound = (this.stopsAtFirst ??= compile(this.compilers.first, this.schema));
    if (isSound(value)) return [];
    const first = faultsFrom(isSound.errors, value);
    const isLarge = holdsMoreThan(value, MAX_LOOKED_AT);
    const all = isLarge ? [...first, ...this.faultsInSample(value)] : this.allFaults(value);
    return cut(all, isLarge);
  }

  private allFaults(value: Json): SchemaFault[] {
    const validate = (this.namesAll ??= compile(this.compilers.every, this.schema));
    validate(value);
    return faultsFrom(validate.errors, value);
  }

  private faultsInSample(value: Json): SchemaFault[] {
    const sample = sampleOf(value, MAX_LOOKED_AT);
    if (!sample) return [];
    const validate = (this.namesAll ??= compile(this.compilers.every, this.schema));
    validate(sample.value);
    const ofParts = (validate.errors ?? []).filter(
      ({ keyword, instancePath, schemaPath }) =>
        !schemaPath.includes('/contains/') && !(OF_THE_WHOLE.has(keyword) && sample.cutAt.has(instancePath)),
    );
    return faultsFrom(ofParts, sample.value);
  }
}

function compile(ajv: Ajv, schema: JsonSchema): ValidateFunction {
  const validate = ajv.compile(schema);
  // Ajv would keep it forever; this object owns the check.
  ajv.removeSchema(schema);
  return validate;
}

function faultsFrom(errors: ErrorObject[] | null | undefined, value: Json): SchemaFault[] {
  return (errors ?? []).filter(({ keyword }) => keyword !== 'if').map((error) => toFault(error, value));
}

/** The first distinct faults; the last one says how many more are known. */
function cut(faults: readonly SchemaFault[], isLarge: boolean): SchemaFault[] {
  const known = new Map(faults.map((fault) => [`${fault.path} ${fault.code} ${fault.message}`, fault]));
  if (!isLarge && known.size <= MAX_FAULTS) return [...known.values()];
  const named = [...known.values()].slice(0, MAX_FAULTS - 1);
  const message = isLarge
    ? 'is too large to name every fault; there may be more'
    : `has ${known.size - named.length} more faults`;
  return [...named, { path: '', code: 'more', message }];
}
