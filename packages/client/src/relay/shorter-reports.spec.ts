import type { Approval, Json } from '@patchbay/protocol';
import { reportOf } from './shorter-reports.js';

const approval: Approval = {
  ...{ decision: 'edit', by: 'ada', at: '2025-06-01T12:00:00Z' },
  editedArguments: { path: '/a.txt', content: { text: 'safe' } },
};

/** The decisions that are reported in turn for an edited call, each after the one before was too large. */
function decisions(result: Json): (string | undefined)[] {
  const entry = {
    ...{
      callId: 'c',
      turnId: 't',
      attempt: 1,
      state: 'finished' as const,
      call: null,
      approval,
      basis: null,
      intents: [],
    },
    ...{ committing: false, settled: null, result, executionMs: null },
  };
  const reports = [0, 1, 2, 3].map((shortened) => reportOf(entry, shortened));
  return reports.map((report) => report?.approval?.decision);
}

describe('a report that is too large for one message', () => {
  it('is shortened to something as true: an edited call that has run is reported as allowed', () => {
    expect(decisions({ success: true })).toEqual(['edit', 'allow', 'deny', undefined]);
  });

  it('never allows the unedited arguments of an edited call that the server would run', () => {
    expect(decisions(null)).toEqual(['edit', 'deny', undefined, undefined]);
  });
});
