import type { EnvReader } from './env-reader.js';

const MIB = 1024 * 1024;

type Integer = (name: string, value: number, min: number, max: number, meaning: string) => number;

/** What turns may take up: how many are open, how much they give back, how many requests wait for them. */
export function turnLimits(env: EnvReader) {
  env.section('Limits of turns');
  const integer: Integer = (name, value, min, max, meaning) =>
    env.integer(name, { default: value, min, max, meaning });
  return {
    maxOpenTurns: integer('PATCHBAY_MAX_OPEN_TURNS', 1000, 2, 100_000, 'Open turns of one workspace.'),
    maxUserOpenTurns: integer(
      'PATCHBAY_MAX_USER_OPEN_TURNS',
      500,
      1,
      100_000,
      'Open turns of one user, in all workspaces; less than those of a workspace.',
    ),
    maxOpenCalls: integer(
      'PATCHBAY_MAX_OPEN_CALLS',
      20_000,
      2,
      10_000_000,
      'Calls of the open turns of one workspace.',
    ),
    maxUserOpenCalls: integer(
      'PATCHBAY_MAX_USER_OPEN_CALLS',
      10_000,
      1,
      10_000_000,
      'Calls of the open turns of one user, in all workspaces; less than those of a workspace.',
    ),
    ...answerLimits(integer),
  };
}

function answerLimits(integer: Integer) {
  return {
    maxResultBytes: integer(
      'PATCHBAY_MAX_RESULT_BYTES',
      4 * MIB,
      1024,
      512 * MIB,
      'Result and error details of one call, as JSON.',
    ),
    maxTurnResultBytes: integer(
      'PATCHBAY_MAX_TURN_RESULT_BYTES',
      16 * MIB,
      1024,
      512 * MIB,
      'Results and error details of one turn, as JSON.',
    ),
    maxUserWaiting: integer(
      'PATCHBAY_MAX_USER_WAITING',
      1000,
      1,
      100_000,
      'Requests of one user that wait for turns to end at once.',
    ),
    maxUserServerCalls: integer(
      'PATCHBAY_MAX_USER_SERVER_CALLS',
      4,
      1,
      1000,
      'Server tools of one user that run at once; the others wait for their turn.',
    ),
    maxUserAnswerBytes: integer(
      'PATCHBAY_MAX_USER_ANSWER_BYTES',
      64 * MIB,
      1024,
      1024 * MIB,
      'Results, and large arguments of open turns, that are on their way to one user at once.',
    ),
  };
}

/** A user alone must not be able to take all that a workspace has, nor a call more than its turn may have. */
export function turnLimitFaults(limits: ReturnType<typeof turnLimits>): string[] {
  const faults: string[] = [];
  const below = (what: 'TURNS' | 'CALLS', ofUser: number, ofWorkspace: number): void => {
    if (ofUser >= ofWorkspace) {
      faults.push(`PATCHBAY_MAX_USER_OPEN_${what} must be less than PATCHBAY_MAX_OPEN_${what}`);
    }
  };
  below('TURNS', limits.maxUserOpenTurns, limits.maxOpenTurns);
  below('CALLS', limits.maxUserOpenCalls, limits.maxOpenCalls);
  if (limits.maxResultBytes > limits.maxTurnResultBytes) {
    faults.push('PATCHBAY_MAX_RESULT_BYTES must not exceed PATCHBAY_MAX_TURN_RESULT_BYTES');
  }
  return faults;
}
