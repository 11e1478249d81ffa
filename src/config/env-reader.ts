/** One documented environment variable: a row of `docs/config.md`. */
export interface VariableDoc {
  group: string;
  name: string;
  /** How the default reads in the documentation. */
  default: string;
  meaning: string;
}

/** What a variable means, and how its default reads where the value itself would not say it. */
interface About {
  meaning: string;
  defaultText?: string;
}

interface IntegerRule extends About {
  default: number;
  min: number;
  max: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads typed values from an environment and gathers every fault instead of throwing at the first, so that whoever
 * starts the server mends them in one go. An empty variable counts as unset. What it read is the documentation.
 */
export class EnvReader {
  readonly docs: VariableDoc[] = [];
  readonly faults: string[] = [];
  private group = '';

  constructor(private readonly env: Environment) {}

  /** Names the group of the variables that are read from here on. */
  section(group: string): void {
    this.group = group;
  }

  integer(name: string, rule: IntegerRule): number {
    const text = this.read(name, rule, String(rule.default));
    if (text === null) return rule.default;
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= rule.min && value <= rule.max) return value;
    this.faults.push(`${name} must be a whole number from ${rule.min} to ${rule.max}, not ${quote(text)}`);
    return rule.default;
  }

  /** A number, or the word `off` as null. */
  integerOrOff(name: string, rule: IntegerRule): number | null {
    if (this.env[name]?.trim().toLowerCase() !== 'off') return this.integer(name, rule);
    this.read(name, rule, String(rule.default));
    return null;
  }

  text(name: string, rule: About & { default: string }): string {
    return this.read(name, rule, rule.default) ?? rule.default;
  }

  /** A value that has no default and must not appear in a fault. */
  secret(name: string, rule: About & { minLength: number; required: boolean }): string | null {
    const value = this.read(name, rule, '');
    if (value === null) {
      if (rule.required) this.faults.push(`${name} is required with NODE_ENV=production`);
      return null;
    }
    if (value.length < rule.minLength) {
      this.faults.push(`${name} must have at least ${rule.minLength} characters`);
    }
    return value;
  }

  oneOf<T extends string>(name: string, rule: About & { default: T; values: readonly T[] }): T {
    const text = this.read(name, rule, rule.default);
    if (text === null) return rule.default;
    const value = rule.values.find((candidate) => candidate === text.toLowerCase());
    if (value === undefined) {
      this.faults.push(`${name} must be one of ${rule.values.join(', ')}, not ${quote(text)}`);
    }
    return value ?? rule.default;
  }

  /** A comma-separated list; `check` says what is wrong with an item, null where nothing is. */
  list(name: string, rule: About & { check: (item: string) => string | null }): string[] {
    const text = this.read(name, rule, '') ?? '';
    const items = text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
    for (const item of items) {
      const fault = rule.check(item);
      if (fault !== null) this.faults.push(`${name}: ${quote(item)} ${fault}`);
    }
    return items;
  }

  /** The raw value, null where it is unset; notes the variable for the documentation. */
  private read(name: string, about: About, defaultText: string): string | null {
    this.docs.push({
      group: this.group,
      name,
      default: about.defaultText ?? defaultText,
      meaning: about.meaning,
    });
    const value = this.env[name]?.trim();
    return value === undefined || value === '' ? null : value;
  }
}

function quote(text: string): string {
  return `"${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`;
}
