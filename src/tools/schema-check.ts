import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { Json, JsonSchema } from '@patchbay/protocol';
import { tooManyIn } from './item-bounds.js';
import { MAX_FAULTS, type SchemaFault, toFault } from './tool-schemas.js';
import { holdsMoreThan, sampleOf } from './value-sample.js';

/** Of a value with more in it not every fault is looked for: each costs a microsecond and some hundred bytes. */
const MAX_LOOKED_AT = 20_000;
/** Of a rule that asks of the whole list or object, what a sample of it says is nothing. */
const OF_THE_WHOLE = new Set(['required', 'contains', 'minItems', 'minProperties', 'dependentRequired']);

/**
 * A JSON Schema, compiled once, when it is first needed: gives the faults of a value, none where it fits. The value is
 * never changed. First it is asked only whether there is a fault, which costs one pass and no memory; then its faults
 * are named, of a large value those in a part of it.
 */
export class SchemaCheck {
  private static readonly options = { strict: true, allowUnionTypes: true };
  private static readonly first = new Ajv(SchemaCheck.options);
  private static readonly every = new Ajv({ ...SchemaCheck.options, allErrors: true });
  private stopsAtFirst: ValidateFunction | null = null;
  private namesAll: ValidateFunction | null = null;

  constructor(private readonly schema: JsonSchema) {}

  /** At most twenty faults; where there are more, or may be, the last says so. */
  faultsOf(value: Json): SchemaFault[] {
    const overfull = tooManyIn(this.schema, value);
    if (overfull) return [overfull];
    const isSound = (this.stopsAtFirst ??= compile(SchemaCheck.first, this.schema));
    if (isSound(value)) return [];
    const first = told(isSound.errors, value);
    const isLarge = holdsMoreThan(value, MAX_LOOKED_AT);
    const all = isLarge ? [...first, ...this.faultsInSample(value)] : this.allFaults(value);
    return cut(all, isLarge);
  }

  private allFaults(value: Json): SchemaFault[] {
    const validate = (this.namesAll ??= compile(SchemaCheck.every, this.schema));
    validate(value);
    return told(validate.errors, value);
  }

  private faultsInSample(value: Json): SchemaFault[] {
    const sample = sampleOf(value, MAX_LOOKED_AT);
    if (!sample) return [];
    const validate = (this.namesAll ??= compile(SchemaCheck.every, this.schema));
    validate(sample.value);
    const ofParts = (validate.errors ?? []).filter(
      ({ keyword, instancePath, schemaPath }) =>
        !schemaPath.includes('/contains/') && !(OF_THE_WHOLE.has(keyword) && sample.cutAt.has(instancePath)),
    );
    return told(ofParts, sample.value);
  }
}

function compile(ajv: Ajv, schema: JsonSchema): ValidateFunction {
  const validate = ajv.compile(schema);
  // Ajv would keep it for as long as the process runs; the check is where it is kept.
  ajv.removeSchema(schema);
  return validate;
}

function told(errors: ErrorObject[] | null | undefined, value: Json): SchemaFault[] {
  return (errors ?? []).filter(({ keyword }) => keyword !== 'if').map((error) => toFault(error, value));
}

/** The first faults, each once; the last says how many more there are, as far as that is known. */
function cut(faults: readonly SchemaFault[], isLarge: boolean): SchemaFault[] {
  const known = new Map(faults.map((fault) => [`${fault.path} ${fault.code} ${fault.message}`, fault]));
  if (!isLarge && known.size <= MAX_FAULTS) return [...known.values()];
  const named = [...known.values()].slice(0, MAX_FAULTS - 1);
  const message = isLarge
    ? 'is too large to name every fault; there may be more'
    : `has ${known.size - named.length} more faults`;
  return [...named, { path: '', code: 'more', message }];
}
