import type { Question } from '@patchbay/workspace';
import type { Dialogue } from './dialogue.js';
import { matchesAll, suggestedGlobs } from './glob.js';
import { GLOB_LANGUAGE } from './glob-language.js';
import { askKey, type MenuItem } from './menu.js';
import { printableLine } from './printable.js';
import { ruleText, type SessionRule } from './session-rules.js';

/** Tools that write files of the folder; a rule for a path covers them all. */
const FOLDER_TOOLS = ['workspace_create_file', 'workspace_write_patch'];
const REVOKED = 'It survives restarts; "patchbay approvals" lists it, and --revoke there ends it.';
const YES: MenuItem = { word: 'yes', meaning: 'store this rule and allow this call' };
const NO: MenuItem = { word: 'no', meaning: 'store no rule and ask about this call again' };

/** Asks for a rule for all calls of this tool; null if the person declines. */
export function askForToolRule(
  { call }: Question,
  person: Dialogue,
  signal: AbortSignal,
): Promise<SessionRule | null> {
  return taken({ sessionId: call.sessionId, tools: [call.name], globs: null }, person, signal);
}

/** Asks for a rule for a glob: the suggested one, which is shown first, or a typed one. */
export async function askForGlobRule(
  question: Question,
  person: Dialogue,
  signal: AbortSignal,
): Promise<SessionRule | null> {
  const { call, files } = question;
  const tools = FOLDER_TOOLS.includes(call.name) ? FOLDER_TOOLS : [call.name];
  const suggested = suggestedGlobs(files);
  const rule = (globs: readonly string[]): SessionRule => ({ sessionId: call.sessionId, tools, globs });
  showRule(rule(suggested), person);
  person.say(`Another glob: ${GLOB_LANGUAGE}`);
  const named = printableLine(suggested.join(' '));
  const answer = await person.ask(`Glob [${named}] (Ctrl-D: back): `, signal);
  if (answer === null) return null;
  const globs = answer.trim() === '' ? suggested : [answer.trim()];
  const paths = files.map(({ path }) => path);
  if (!matchesAll(globs, paths)) {
    person.say('That glob does not match this call.');
    return null;
  }
  return globs === suggested ? rule(globs) : taken(rule(globs), person, signal);
}

/** Shows a rule and asks whether to store it. */
async function taken(rule: SessionRule, person: Dialogue, signal: AbortSignal): Promise<SessionRule | null> {
  const show = () => showRule(rule, person);
  show();
  const key = await askKey([YES, NO], person, signal, { place: 'Store this rule?', again: show });
  return key === YES ? rule : null;
}

function showRule(rule: SessionRule, person: Dialogue): void {
  person.say(`The rule allows, without asking, ${ruleText(rule)}.`);
  if (rule.sessionId !== '') person.say(REVOKED);
}
