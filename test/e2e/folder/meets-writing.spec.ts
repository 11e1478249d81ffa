import { suiteFixture } from '../../support/fixtures.js';
import { FolderFixture } from '../../support/folder-fixture.js';
import { DEEDS, type Deed, Meeting } from '../../support/folder-meeting.js';
import type { TestProcess } from '../../support/processes.js';
import { waitFor } from '../../support/wait-for.js';

type Call = 'patch' | 'create';

/** What becomes of a patch that is staged when the person is faster. */
const PATCHED: Record<Deed, string> = {
  edit: 'STALE',
  checkout: 'STALE',
  'checkout of a branch': 'STALE',
  delete: 'NOT_FOUND',
  rename: 'NOT_FOUND',
  'mode change': 'succeeded',
};

/** And of a create that overwrites: it was approved for the file that was there, and for no other. */
const CREATED: Record<Deed, string> = {
  edit: 'FileExists',
  checkout: 'FileExists',
  'checkout of a branch': 'FileExists',
  delete: 'succeeded',
  rename: 'succeeded',
  'mode change': 'succeeded',
};

/** A call is stopped where its text is staged beside the file, and not yet in its place. */
describe('a person’s change during the write of a call', () => {
  const fixture = suiteFixture(() => FolderFixture.start());
  let client: TestProcess;
  const meetings = new Map<string, Meeting>();
  const pairs = (['patch', 'create'] as const).flatMap((call) =>
    DEEDS.map((deed): [Deed, Call] => [deed, call]),
  );

  beforeAll(async () => {
    const [laptop, model] = [fixture.machine(), fixture.model()];
    for (const [deed, call] of pairs) {
      const name = `${deed} ${call}`;
      meetings.set(name, new Meeting(fixture, laptop, model, { deed, name }));
    }
    await Meeting.prepare(laptop, [...meetings.values()]);
    client = await laptop.connectPausing('before:kept,before:committing');
  });

  const stops = () => client.stderr.split('test: paused').length - 1;
  let resumed = 0;
  const whileStopped = async (act: () => Promise<void>): Promise<void> => {
    await waitFor(() => stops() > resumed, 'the call to be stopped');
    await act();
    resumed = stops();
    client.signal('SIGUSR2');
  };

  /** Lets whatever the model does from here on through. */
  const goingOn = async <T>(work: Promise<T>): Promise<T> => {
    const timer = setInterval(() => {
      if (stops() > resumed) void whileStopped(() => Promise.resolve());
    }, 10);
    return work.finally(() => clearInterval(timer));
  };

  it.each(pairs)('%s, during a %s', async (deed, call) => {
    const meeting = meetings.get(`${deed} ${call}`)!;
    const calling =
      call === 'create'
        ? meeting.creates({ overwrite: true })
        : meeting.reads().then((read) => meeting.patches(read));
    await whileStopped(() => meeting.act());
    expect(await goingOn(calling)).toBe((call === 'create' ? CREATED : PATCHED)[deed]);
    await goingOn(meeting.settles());
  });
});
