import { isWellFormedJson, type Json, lossIn, shortText, type ToolContract } from '@patchbay/protocol';
import { digestOf } from '../../common/digest.js';
import { SchemaCheck } from '../schema-check.js';
import { MAX_FAULTS, MAX_NAME, type SchemaFault } from '../tool-schemas.js';

/** A tool as whoever takes its calls needs it: its contract, and what is wrong with arguments and results under it. */
export class Tool {
  /** sha256 that names the contract, all of it, for good. */
  readonly digest: string;
  private readonly request: SchemaCheck;
  private readonly response: SchemaCheck;

  /** @param beyondSchema what a schema can't say of arguments; it is told whether they keep to the schema. */
  constructor(
    readonly contract: ToolContract,
    private readonly beyondSchema: (args: Json, keepSchema: boolean) => SchemaFault[] = () => [],
  ) {
    this.digest = digestOf(contract);
    this.request = new SchemaCheck(contract.requestSchema);
    this.response = new SchemaCheck(contract.responseSchema);
  }

  /** What is wrong with the arguments of a call. */
  argumentFaults(args: Json): SchemaFault[] {
    const halves = halvesIn(args);
    if (halves.length > 0) return halves;
    const faults = [...repeatedNamesIn(args), ...this.request.faultsOf(args)];
    return [...faults, ...this.beyondSchema(args, faults.length === 0)];
  }

  /** What is wrong with a result that a client sent. */
  resultFaults(result: Json): SchemaFault[] {
    return this.response.faultsOf(result);
  }
}

/** Arguments that hold an object with one name twice: what the person sees and what is run must be what was sent. */
export function repeatedNamesIn(args: Json): SchemaFault[] {
  if (typeof args !== 'object' || args === null) return [];
  return Object.keys(args).flatMap((name) => {
    const loss = lossIn(args, name, 'name');
    if (loss === null) return [];
    return { path: `/${shortText(name, MAX_NAME)}`, code: 'content', message: `holds ${loss}` };
  });
}

/** Arguments that hold half of a surrogate pair: no client could be sent them, and no reader of UTF-8 an answer with them. */
function halvesIn(args: Json): SchemaFault[] {
  if (typeof args !== 'object' || args === null || isWellFormedJson(args)) return [];
  return Object.entries(args)
    .filter((argument) => !isWellFormedJson(argument))
    .slice(0, MAX_FAULTS)
    .map(([name]) => ({
      path: `/${shortText(name, MAX_NAME)}`,
      code: 'content',
      message: 'holds a lone surrogate',
    }));
}
