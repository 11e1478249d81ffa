import { FolderFixture } from '../../support/folder-fixture.js';
import { DEEDS, type Deed, Meeting, type Moment, MOMENTS } from '../../support/folder-meeting.js';
import { LiveClient } from '../../support/live-client.js';

type Pair = [deed: Deed, moment: Moment, outcome: string];

const OVERWRITES = MOMENTS.flatMap((moment) => DEEDS.map((deed): Pair => [deed, moment, 'succeeded']));

/** Of a file that the person has, or makes, or takes away. */
const CREATES: Pair[] = [
  ['edit', 'before', 'FileExists'],
  ['edit', 'during', 'FileExists'],
  ['edit', 'after', 'succeeded'],
  ['checkout of a branch', 'before', 'FileExists'],
  ['checkout of a branch', 'during', 'FileExists'],
  ['checkout of a branch', 'after', 'succeeded'],
  ['delete', 'before', 'succeeded'],
  ['delete', 'after', 'succeeded'],
  ['rename', 'before', 'succeeded'],
  ['rename', 'after', 'succeeded'],
  ['mode change', 'before', 'FileExists'],
  ['mode change', 'after', 'succeeded'],
];

describe('a person’s change during a create by the model', () => {
  let fixture: FolderFixture;
  let client: LiveClient;
  const meetings = new Map<string, Meeting>();

  beforeAll(async () => {
    fixture = await FolderFixture.start();
    const [laptop, model] = [fixture.machine(), fixture.model()];
    for (const [deed, moment] of OVERWRITES) {
      const name = `${deed} ${moment}`;
      meetings.set(name, new Meeting(fixture, laptop, model, { deed, name }));
    }
    for (const [deed, moment] of CREATES) {
      const name = `new ${deed} ${moment}`;
      const isNew = moment !== 'before' || deed === 'edit' || deed === 'checkout of a branch';
      meetings.set(name, new Meeting(fixture, laptop, model, { deed, name, isNew }));
    }
    await Meeting.prepare(laptop, [...meetings.values()]);
    client = await LiveClient.connect(laptop);
  });
  afterAll(async () => {
    await client.close();
    await fixture.close();
  });

  const meet = async (meeting: Meeting, moment: Moment, overwrite: boolean): Promise<string> => {
    if (moment === 'before') await meeting.act();
    // Once: of what has changed meanwhile the person is asked again.
    let acts = moment === 'during' ? 1 : 0;
    client.onAsked = () => (acts-- > 0 ? meeting.act() : Promise.resolve());
    const outcome = await meeting.creates({ overwrite });
    client.onAsked = () => Promise.resolve();
    if (moment === 'after') await meeting.act();
    return outcome;
  };

  it.each(OVERWRITES)('%s, %s it, of a file that may be overwritten', async (deed, moment, outcome) => {
    const meeting = meetings.get(`${deed} ${moment}`)!;
    expect(await meet(meeting, moment, true)).toBe(outcome);
    await meeting.settles();
  });

  it.each(CREATES)('%s, %s it, of a new file: %s', async (deed, moment, outcome) => {
    const meeting = meetings.get(`new ${deed} ${moment}`)!;
    expect(await meet(meeting, moment, false)).toBe(outcome);
    await meeting.settles();
  });
});
