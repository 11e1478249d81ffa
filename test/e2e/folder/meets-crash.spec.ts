import { suiteFixture } from '../../support/fixtures.js';
import { FolderFixture } from '../../support/folder-fixture.js';
import { DEEDS, type Deed, Meeting, type Moment, MOMENTS } from '../../support/folder-meeting.js';
import type { Machine } from '../../support/folder-machine.js';
import { waitFor } from '../../support/wait-for.js';

/** Where the calls are when their client is killed. */
const STEPS = {
  'before its file is in its place': 'before:place',
  'between the rename and the upload': 'after:place',
  'between the upload and the journal’s last line': 'before:finished',
};
type Step = keyof typeof STEPS;

type Call = 'patch' | 'create';
const CRASHES: [step: Step, moment: Moment, call: Call][] = [
  ...MOMENTS.flatMap((moment): [Step, Moment, Call][] => [
    ['before its file is in its place', moment, 'patch'],
    ['between the rename and the upload', moment, 'patch'],
    ['between the rename and the upload', moment, 'create'],
  ]),
  ['before its file is in its place', 'during', 'create'],
  ['between the upload and the journal’s last line', 'during', 'patch'],
];

/** What becomes of a patch whose file is not in its place yet, where the person was first. */
const OVERTAKEN: Record<Deed, string> = {
  edit: 'STALE',
  checkout: 'STALE',
  'checkout of a branch': 'STALE',
  delete: 'NOT_FOUND',
  rename: 'NOT_FOUND',
  'mode change': 'succeeded',
};

/** What may become of a call. */
function outcomesOf(deed: Deed, step: Step, moment: Moment, call: Call): string[] {
  if (moment === 'after' || deed === 'mode change') return ['succeeded'];
  // It is not run again, and cannot say whether it was.
  if (call === 'create') return ['WriteFailed'];
  if (STEPS[step] === 'before:place') return [OVERTAKEN[deed]];
  // The journal that is stopped has stopped some of the calls before their files were in place.
  return STEPS[step] === 'before:finished' ? ['succeeded', OVERTAKEN[deed]] : ['succeeded'];
}

describe('a person’s change during the crash of a client with open calls', () => {
  const fixture = suiteFixture(() => FolderFixture.start());
  let laptop: Machine;
  const meetings = new Map<string, Meeting>();
  const nameOf = (deed: Deed, step: Step, moment: Moment, call: Call) =>
    [deed, STEPS[step].replace(':', ' '), moment, call].join(' ');

  beforeAll(async () => {
    laptop = fixture.machine();
    const model = fixture.model();
    for (const crash of CRASHES)
      for (const deed of DEEDS) {
        const name = nameOf(deed, ...crash);
        meetings.set(name, new Meeting(fixture, laptop, model, { deed, name }));
      }
    await Meeting.prepare(laptop, [...meetings.values()]);
  });

  describe.each(CRASHES)('%s, with the deed %s it, of a %s', (step, moment, call) => {
    const crashed = () => DEEDS.map((deed) => meetings.get(nameOf(deed, step, moment, call))!);
    const outcomes = new Map<Deed, string>();
    const settled = new Map<Deed, Promise<void>>();

    beforeAll(async () => {
      await laptop.close();
      const client = await laptop.connectPausing(STEPS[step]);
      const planned = await Promise.all(crashed().map((meeting) => meeting.reads()));
      // What the person then replaces while no client is there is the person's to lose.
      const isSeen = moment === 'after';
      const calls = crashed().map((meeting, at) =>
        call === 'patch'
          ? meeting.patches(planned[at]!, { isSeen })
          : meeting.creates({ overwrite: true }, { isSeen }),
      );
      // A journal that is stopped stops every call.
      const stopped = STEPS[step] === 'before:finished' ? 1 : DEEDS.length;
      await waitFor(() => client.stderr.split('test: paused').length > stopped, 'the calls to be stopped');
      if (moment === 'before') for (const meeting of crashed()) await meeting.act();
      await client.kill();
      if (moment === 'during') for (const meeting of crashed()) await meeting.act();
      await laptop.connect();
      for (const [at, called] of calls.entries()) outcomes.set(DEEDS[at]!, await called);
      if (moment === 'after') for (const meeting of crashed()) await meeting.act();
      for (const [at, deed] of DEEDS.entries()) {
        settled.set(deed, crashed()[at]!.settles());
        settled.get(deed)!.catch(() => undefined);
      }
    });

    it.each(DEEDS)('%s', async (deed) => {
      expect(outcomesOf(deed, step, moment, call)).toContain(outcomes.get(deed));
      await settled.get(deed);
    });
  });
});
