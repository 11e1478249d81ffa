import { readFileSync } from 'node:fs';
import { shortText } from '@patchbay/protocol';

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

interface SecretRule extends About {
  /** What is wrong with a value, without showing it; null where nothing is. */
  check: (value: string) => string | null;
  /** With what it has to be set, as the fault says it; null where it may be absent. */
  requiredWith: string | null;
  /** What the variable means that names its file. */
  fileMeaning: string;
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

  /** A URL path without a slash at its end; empty where there is none. */
  path(name: string, rule: About): string {
    const path = (this.read(name, rule, '') ?? '').replace(/\/$/, '');
    const isSound = /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/.test(path) && path.length <= 200;
    if (!isSound) this.faults.push(`${name} must be a path such as /patchbay, not ${quote(path)}`);
    return path;
  }

  /**
   * A value that has no default and must not appear in a fault. It may be in a file instead, which `<name>_FILE` names,
   * so that it is in no environment.
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

  private contentOf(name: string, file: string): string | null {
    try {
      return readFileSync(file, 'utf8').trimEnd();
    } catch (error) {
      this.faults.push(`${name}: ${quote(file)} can't be read (${(error as NodeJS.ErrnoException).code})`);
      return null;
    }
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
  return `"${shortText(text, 60)}"`;
}
