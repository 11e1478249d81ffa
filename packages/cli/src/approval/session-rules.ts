import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isIgnoreFile, type Question } from '@patchbay/workspace';
import { matchesAll } from './glob.js';
import { printableLine } from './printable.js';

/** Where a rule holds: for calls of this session that this client gets from this server. */
export interface RulePlace {
  url: string;
  workspaceId: string;
  clientId: string;
}

/** What a person has allowed in a session once and for all. */
export interface SessionRule {
  sessionId: string;
  /** Names of the tools whose calls are let through. */
  tools: readonly string[];
  /** All files of a call match one of these; null: whatever files. */
  globs: readonly string[] | null;
}

/** A rule as it is kept on this machine, under a number that stays its own. */
export interface KeptRule extends SessionRule, RulePlace {
  n: number;
  by: string;
  at: string;
}

/** The rules of one client. */
export interface RuleStore {
  add(rule: SessionRule, by: string): Promise<void>;
  /** The first that lets the call through. */
  allowing(question: Question): Promise<SessionRule | null>;
}

/** `src/** in this session`: what was said, as the model and the audit trail are told. */
export function ruleName({ sessionId, tools, globs }: SessionRule): string {
  return `${(globs ?? tools).join(' ')} ${sessionId === '' ? 'while this connect runs' : 'in this session'}`;
}

/** What a rule lets through, and for how long; safe to print. */
export function ruleText({ sessionId, tools, globs }: SessionRule): string {
  const what = `every call of ${tools.join(' or ')}, ${globs ? `all of whose files match ${globs.join(' or ')}` : 'whatever its files are'}`;
  const howLong =
    sessionId === ''
      ? 'for as long as this connect runs'
      : `for the rest of session ${sessionId}, and in no other one`;
  return printableLine(`${what}, ${howLong}`);
}

/** Of an ignore file only a person, or a glob that names it, allows a change. */
export function covers(rule: SessionRule, { call, files }: Question): boolean {
  if (rule.sessionId !== call.sessionId || !rule.tools.includes(call.name)) return false;
  const paths = files.map(({ path }) => path);
  return rule.globs === null ? !paths.some(isIgnoreFile) : matchesAll(rule.globs, paths);
}

/** Rules that end with the process. */
export class RulesOfRun implements RuleStore {
  private readonly rules: SessionRule[] = [];

  async add(rule: SessionRule): Promise<void> {
    this.rules.push(rule);
  }

  async allowing(question: Question): Promise<SessionRule | null> {
    return this.rules.find((rule) => covers(rule, question)) ?? null;
  }
}

/** All rules of this machine: a file each below PATCHBAY_HOME, so that what one process revokes counts in all at once. */
export class MachineRules {
  private readonly directory: string;

  constructor(home: string) {
    this.directory = join(home, 'rules');
  }

  /** By their numbers. */
  async all(): Promise<KeptRule[]> {
    const rules = await Promise.all((await this.numbers()).map((n) => this.read(n)));
    return rules.filter((rule) => rule !== null);
  }

  /** The rule that is revoked; null where there is none of this number. */
  async revoke(n: number): Promise<KeptRule | null> {
    const rule = await this.read(n);
    // The number stays taken: `--revoke` with an older list in sight must not end another rule.
    if (rule) await writeFile(this.fileOf(n), 'null');
    return rule;
  }

  async add(rule: Omit<KeptRule, 'n'>): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const next = join(this.directory, randomUUID());
    for (let n = Math.max(0, ...(await this.numbers())) + 1; ; n += 1) {
      await writeFile(next, JSON.stringify({ n, ...rule }), { mode: 0o600 });
      try {
        // Fails where another process has taken the number.
        return await link(next, this.fileOf(n));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      } finally {
        await rm(next, { force: true });
      }
    }
  }

  private async numbers(): Promise<number[]> {
    const names = await readdir(this.directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return names
      .filter((name) => /^\d{1,15}\.json$/.test(name))
      .map((name) => parseInt(name, 10))
      .sort((a, b) => a - b);
  }

  /** Null for one that was revoked a moment ago, or that nobody can read: it allows nothing. */
  private async read(n: number): Promise<KeptRule | null> {
    try {
      const rule = JSON.parse(await readFile(this.fileOf(n), 'utf8')) as KeptRule;
      const isWhole = Array.isArray(rule.tools) && (rule.globs === null || Array.isArray(rule.globs));
      return isWhole ? { ...rule, n } : null;
    } catch {
      return null;
    }
  }

  private fileOf(n: number): string {
    return join(this.directory, `${n}.json`);
  }
}

/** The rules of one client, which last as long as their session, over restarts of the client too. */
export class ClientRules implements RuleStore {
  private readonly machine: MachineRules;

  constructor(
    home: string,
    private readonly place: RulePlace,
  ) {
    this.machine = new MachineRules(home);
  }

  add({ sessionId, tools, globs }: SessionRule, by: string): Promise<void> {
    return this.machine.add({ sessionId, tools, globs, ...this.place, by, at: new Date().toISOString() });
  }

  async allowing(question: Question): Promise<SessionRule | null> {
    const { url, workspaceId, clientId } = this.place;
    const rules = await this.machine.all();
    const here = (rule: KeptRule) =>
      rule.url === url && rule.workspaceId === workspaceId && rule.clientId === clientId;
    return rules.find((rule) => here(rule) && covers(rule, question)) ?? null;
  }
}
