import type { CallStatus } from '@patchbay/protocol';
import { errorFor, eventFor, type Viewer } from './visible-call.js';

describe('the error of a call', () => {
  const call = (code: string, change: Partial<Parameters<typeof errorFor>[1]> = {}) => ({
    ...{ status: 'failed' as CallStatus, location: 'client' as const, reportDigest: null, batchId: null },
    ...{ error: { code, message: 'as it was said' }, ...change },
  });
  const visibleTo = (viewer: Viewer, ...of: Parameters<typeof call>) =>
    errorFor(viewer, call(...of))?.message === 'as it was said';
  const server = { location: 'server' as const };

  it.each([
    ['a client reported', 'WriteFailed', { reportDigest: 'd' }, false],
    ['a client reported under a code of ours', 'CANCELLED', { reportDigest: 'd' }, false],
    ['was found in a batch here', 'LINES_MISMATCH', { batchId: 'b' }, false],
    ['was found in arguments here', 'INVALID_ARGUMENTS', {}, true],
    ['is an unknown tool', 'UNKNOWN_TOOL', server, true],
    ['a server tool threw', 'NOT_FOUND', { ...server, reportDigest: '' }, true],
    ['a server tool reported', 'ALREADY_IN_CONTEXT', { ...server, reportDigest: '' }, false],
    ['is a cancel', 'CANCELLED', { status: 'cancelled' as const, batchId: 'b' }, true],
    ['is a clock', 'EXECUTION_TIMEOUT', { status: 'timed_out' as const, batchId: 'b' }, true],
    ['is a denial', 'DENIED', { status: 'denied' as const, batchId: 'b', reportDigest: 'd' }, true],
  ])(
    'of %s shows its code to owners, and its message only if the server wrote it',
    (_, code, change, isOwn) => {
      expect(errorFor('owner', call(code, change))!.code).toBe(code);
      expect(['user', 'owner', 'member'].map((viewer) => visibleTo(viewer as Viewer, code, change))).toEqual([
        ...[true, isOwn, false],
      ]);
      expect(errorFor('member', call(code, change))).toBeNull();
    },
  );
});

describe('an audit event', () => {
  const fields = { toolName: 't', note: 'n', approval: { decision: 'deny', note: 'm' } };
  const event = { fields } as unknown as Parameters<typeof eventFor>[1];

  it('keeps all fields except the notes that its viewer may not see', () => {
    expect(eventFor('user', event).fields).toEqual(fields);
    expect(eventFor('owner', event).fields).toEqual({ toolName: 't', approval: fields.approval });
    expect(eventFor('member', event).fields).toEqual({
      ...{ toolName: 't', approval: { decision: 'deny', note: null } },
    });
  });
});
