import type { Question } from '@patchbay/workspace';
import type { Dialogue } from './dialogue.js';
import { matchesAll, suggestedGlobs } from './glob.js';
import { GLOB_LANGUAGE } from './glob-language.js';
import { askKey, type MenuItem } from './menu.js';
import { printableLine } from './printable.js';
import { ruleText, type SessionRule } from './session-rules.js';

/** Tools that write files of the folder; whoever trusts one with a path trusts the other. */
const FOLDER_TOOLS = ['workspace_create_file', 'workspace_write_patch'];
const REVOKED = 'It holds over restarts; "patchbay approvals" lists it, and --revoke there ends it.';
const YES: MenuItem = { word: 'yes', meaning: 'take this rule, and do this call' };
const NO: MenuItem = { word: 'no', meaning: 'take no rule, and ask about this call again' };

/** A rule for all calls of this tool, once the person has seen what that is; null where they want none. */
export function takeToolRule(
  { call }: Question,
  person: Dialogue,
  signal: AbortSignal,
): Promise<SessionRule | null> {
  return taken({ sessionId: call.sessionId, tools: [call.name], globs: null }, person, signal);
}

/** A rule for what matches a glob: the one that is suggested, which is shown first, or one that the person types. */
export async function takeGlobRule(
  question: Question,
  person: Dialogue,
  signal: AbortSignal,
): Promise<SessionRule | null> {
  const { call, files } = question;
  const tools = FOLDER_TOOLS.includes(call.name) ? FOLDER_TOOLS : [call.name];
  const suggested = suggestedGlobs(files);
  const rule = (globs: readonly string[]): SessionRule => ({ sessionId: call.sessionId, tools, globs });
  tell(rule(suggested), person);
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

/** Shows a rule and asks whether to take it. */
async function taken(rule: SessionRule, person: Dialogue, signal: AbortSignal): Promise<SessionRule | null> {
  const show = () => tell(rule, person);
  show();
  const key = await askKey([YES, NO], person, signal, { place: 'Take this rule?', again: show });
  return key === YES ? rule : null;
}

function tell(rule: SessionRule, person: Dialogue): void {
  person.say(`The rule allows without asking: ${ruleText(rule)}.`);
  if (rule.sessionId !== '') person.say(REVOKED);
}
