import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isIgnoreFile, type Question } from '@patchbay/workspace';
import { matchesAll } from './glob.js';
import { printableLine } from './printable.js';

/** Where a rule applies: to calls of this session that this client gets from this server. */
export interface RuleScope {
  url: string;
  workspaceId: string;
  clientId: string;
}

/** A rule that a person gave for a session. */
export interface SessionRule {
  sessionId: string;
  /** Names of the allowed tools. */
  tools: readonly string[];
  /** All files of a call must match one of these; null: any files. */
  globs: readonly string[] | null;
}

/** A stored rule, with a number that is never reused. */
export interface StoredRule extends SessionRule, RuleScope {
  n: number;
  by: string;
  at: string;
}

/** The rules of one client. */
export interface RuleStore {
  add(rule: SessionRule, by: string): Promise<void>;
  /** The first rule that allows the call. */
  allowing(question: Question): Promise<SessionRule | null>;
}

/** `src/** in this session`: the rule as the model and the audit trail see it. */
export function ruleName({ sessionId, tools, globs }: SessionRule): string {
  return `${(globs ?? tools).join(' ')} ${sessionId === '' ? 'while this connect runs' : 'in this session'}`;
}

/** What a rule allows, and for how long; safe to print. */
export function ruleText({ sessionId, tools, globs }: SessionRule): string {
  const what = `every call of ${tools.join(' or ')}, ${globs ? `all of whose files match ${globs.join(' or ')}` : 'for any files'}`;
  const howLong =
    sessionId === '' ? 'for as long as this connect runs' : `for the rest of session ${sessionId} only`;
  return printableLine(`${what}, ${howLong}`);
}

/** Changes of an ignore file need a person, or a glob that names the file. */
export function covers(rule: SessionRule, { call, files }: Question): boolean {
  if (rule.sessionId !== call.sessionId || !rule.tools.includes(call.name)) return false;
  const paths = files.map(({ path }) => path);
  return rule.globs === null ? !paths.some(isIgnoreFile) : matchesAll(rule.globs, paths);
}

/** Rules that end with the process. */
export class ProcessRules implements RuleStore {
  private readonly rules: SessionRule[] = [];

  async add(rule: SessionRule): Promise<void> {
    this.rules.push(rule);
  }

  async allowing(question: Question): Promise<SessionRule | null> {
    return this.rules.find((rule) => covers(rule, question)) ?? null;
  }
}

/**
 * All rules of this machine, one file each below PATCHBAY_HOME, so that a revocation takes effect in all processes at
 * once.
 */
export class MachineRules {
  private readonly directory: string;

  constructor(home: string) {
    this.directory = join(home, 'rules');
  }

  /** In the order of their numbers. */
  async all(): Promise<StoredRule[]> {
    const rules = await Promise.all((await this.numbers()).map((n) => this.read(n)));
    return rules.filter((rule) => rule !== null);
  }

  /** The revoked rule; null if there is none with this number. */
  async revoke(n: number): Promise<StoredRule | null> {
    const rule = await this.read(n);
    // The number stays taken: `--revoke` from an older list must not end another rule.
    if (rule) await writeFile(this.fileOf(n), 'null');
    return rule;
  }

  async add(rule: Omit<StoredRule, 'n'>): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const next = join(this.directory, randomUUID());
    for (let n = Math.max(0, ...(await this.numbers())) + 1; ; n += 1) {
      await writeFile(next, JSON.stringify({ n, ...rule }), { mode: 0o600 });
      try {
        // Fails if another process has taken the number.
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

  /** Null if it was just revoked or cannot be read: then it allows nothing. */
  private async read(n: number): Promise<StoredRule | null> {
    try {
      const rule = JSON.parse(await readFile(this.fileOf(n), 'utf8')) as StoredRule;
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

/** The rules of one client, kept for the life of their session, also over restarts of the client. */
export class ClientRules implements RuleStore {
  private readonly machine: MachineRules;

  constructor(
    home: string,
    private readonly place: RuleScope,
  ) {
    this.machine = new MachineRules(home);
  }

  add({ sessionId, tools, globs }: SessionRule, by: string): Promise<void> {
    return this.machine.add({ sessionId, tools, globs, ...this.place, by, at: new Date().toISOString() });
  }

  async allowing(question: Question): Promise<SessionRule | null> {
    const { url, workspaceId, clientId } = this.place;
    const rules = await this.machine.all();
    const here = (rule: StoredRule) =>
      rule.url === url && rule.workspaceId === workspaceId && rule.clientId === clientId;
    return rules.find((rule) => here(rule) && covers(rule, question)) ?? null;
  }
}
