import { FolderScene } from '../../support/folder-scene.js';
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

const CRASHES = Object.keys(STEPS).flatMap((step) =>
  MOMENTS.map((moment) => [step as Step, moment] as const),
);

/** What becomes of a patch whose file is not in its place yet, where the person was first. */
const OVERTAKEN: Record<Deed, string> = {
  edit: 'STALE',
  checkout: 'STALE',
  'checkout of a branch': 'STALE',
  delete: 'NOT_FOUND',
  rename: 'NOT_FOUND',
  'mode change': 'succeeded',
};

describe('a person’s deed meets the crash of a client that patches', () => {
  let scene: FolderScene;
  let laptop: Machine;
  const meetings = new Map<string, Meeting>();
  const nameOf = (deed: Deed, step: Step, moment: Moment) =>
    [deed, STEPS[step].replace(':', ' '), moment].join(' ');

  beforeAll(async () => {
    scene = await FolderScene.start();
    laptop = scene.machine();
    const model = scene.model();
    for (const [step, moment] of CRASHES)
      for (const deed of DEEDS) {
        const name = nameOf(deed, step, moment);
        meetings.set(name, new Meeting(scene, laptop, model, { deed, name }));
      }
    await Meeting.prepare(laptop, [...meetings.values()]);
  });
  afterAll(() => scene.close());

  describe.each(CRASHES)('%s, with the deed %s it', (step, moment) => {
    const here = () => DEEDS.map((deed) => meetings.get(nameOf(deed, step, moment))!);
    const outcomes = new Map<Deed, string>();

    beforeAll(async () => {
      await laptop.close();
      const client = await laptop.connectPausing(STEPS[step]);
      const planned = await Promise.all(here().map((meeting) => meeting.reads()));
      // What the person then replaces while no client is there is the person's to lose.
      const isSeen = moment === 'after';
      const patches = here().map((meeting, at) => meeting.patches(planned[at]!, { isSeen }));
      // A journal that is stopped stops every call.
      const stopped = STEPS[step] === 'before:finished' ? 1 : DEEDS.length;
      await waitFor(() => client.stderr.split('test: paused').length > stopped, 'the calls to be stopped');
      if (moment === 'before') for (const meeting of here()) await meeting.act();
      await client.kill();
      if (moment === 'during') for (const meeting of here()) await meeting.act();
      await laptop.connect();
      for (const [at, patch] of patches.entries()) outcomes.set(DEEDS[at]!, await patch);
      if (moment === 'after') for (const meeting of here()) await meeting.act();
    });

    it.each(DEEDS)('%s', async (deed) => {
      const isOvertaken = STEPS[step] === 'before:place' && moment !== 'after';
      const expected = isOvertaken ? OVERTAKEN[deed] : 'succeeded';
      const either = STEPS[step] === 'before:finished' && moment !== 'after' ? [OVERTAKEN[deed]] : [];
      expect([expected, ...either]).toContain(outcomes.get(deed));
      await meetings.get(nameOf(deed, step, moment))!.settles();
    });
  });
});
