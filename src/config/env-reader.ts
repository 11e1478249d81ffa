import { readFileSync } from 'node:fs';
import { shortText } from '@patchbay/protocol';

/** One documented environment variable: a row of `docs/config.md`. */
export interface VariableDoc {
  group: string;
  name: string;
  /** The default as the documentation shows it. */
  default: string;
  meaning: string;
}

/** What a variable means, and how the documentation shows its default if the value is not self-explanatory. */
interface About {
  meaning: string;
  defaultText?: string;
}

interface IntegerRule extends About {
  default: number;
  min: number;
  max: number;
}

interface SecretRule extends About {
  /** Returns the fault of a value without showing the value; null if it is valid. */
  check: (value: string) => string | null;
  /** The setting that makes it mandatory, as the fault names it; null if it is optional. */
  requiredWith: string | null;
  /** The meaning of the variable that names its file. */
  fileMeaning: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads typed values from an environment and collects all faults, so that an operator can fix them at once. An empty
 * variable counts as unset. The variables it reads make up the documentation.
 */
export class EnvReader {
  readonly docs: VariableDoc[] = [];
  readonly faults: string[] = [];
  private group = '';

  constructor(private readonly env: Environment) {}

  /** Starts a group of variables in the documentation. */
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

  /** A URL path without a trailing slash; empty for the root. */
  path(name: string, rule: About): string {
    const path = (this.read(name, rule, '') ?? '').replace(/\/$/, '');
    const isSound = /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/.test(path) && path.length <= 200;
    if (!isSound) this.faults.push(`${name} must be a path such as /patchbay, not ${quote(path)}`);
    return path;
  }

  /**
   * A value that has no default and must not appear in a fault. `<name>_FILE` may name a file with it instead, which
   * keeps it out of the environment.
   */
  secret(name: string, rule: SecretRule): string | null {
    const given = this.read(name, rule, '');
    const file = this.read(`${name}_FILE`, { meaning: rule.fileMeaning }, '');
    if (given !== null && file !== null) this.faults.push(`${name} and ${name}_FILE must not both be set`);
    const value = given ?? (file === null ? null : this.contentOf(`${name}_FILE`, file));
    if (value === null) {
      if (rule.requiredWith !== null && file === null)
        this.faults.push(`${name} or ${name}_FILE is required with ${rule.requiredWith}`);
      return null;
    }
    const fault = rule.check(value);
    if (fault !== null) this.faults.push(`${given === null ? `${name}_FILE` : name} ${fault}`);
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

  /** A comma-separated list; `check` returns the fault of an item, null if it is valid. */
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

  private contentOf(name: string, file: string): string | null {
    try {
      return readFileSync(file, 'utf8').trimEnd();
    } catch (error) {
      this.faults.push(`${name}: ${quote(file)} can't be read (${(error as NodeJS.ErrnoException).code})`);
      return null;
    }
  }

  /** The raw value, null if unset; registers the variable for the documentation. */
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
  return `"${shortText(text, 60)}"`;
}
